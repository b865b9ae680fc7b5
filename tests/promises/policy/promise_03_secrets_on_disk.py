"""No secret is written to the log, the ledger or its copies, whatever the text around it looks like."""

import json
import os
import pathlib
import sys
import urllib.error
import urllib.request

from mcp_client import modern
from nodes import one_node
from program import SERVERS, Program
from servers.leaky_server import LEAKS, NOISE

SERVER = SERVERS / "leaky_server.py"
TOKEN = "ghp_" + "x7Rk2mPq9WvL4tZs8NcY"[:18] * 2
PASSWORD = "S3cr3tP4ss"
SETTINGS = """servers = ["lobby"]
[audit]
bodies = true
jsonl = "audit.jsonl"
csv = "audit.csv"
text = "audit.log"
[[upstream]]
name = "leaky"
timeout_s = 1
command = {command}
"""


def raw(program, method, path, body=b"", headers=()):
    """Sends a raw request, and returns the response as text."""
    request = urllib.request.Request(program.address + path, body or None, {"Content-Type": "application/json", **dict(headers)}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as refusal:
        return refusal.read().decode()


def written(program):
    """All output of the program, and the ledger as text."""
    for folder, _, names in os.walk(program.folder):
        for name in names:
            file = pathlib.Path(folder) / name
            if file.name != "failwell.toml":
                yield file.name, file.read_bytes()
    yield "records", json.dumps(program.records()).encode()


def nothing_is_written(binary, home):
    """H2: texts that begin with a brace were searched as JSON only; 10 of 29 secrets were written in clear."""
    command = json.dumps([sys.executable, str(SERVER), TOKEN])
    settings = SETTINGS.format(command=command)
    with Program(binary, home, settings) as program:
        responses = [raw(program, "POST", f"/v1/tools/leaky__{name}", b"{}") for name in [*LEAKS, "dies"]]
        braced = "{" + TOKEN
        program.tool(braced)
        program.rpc("{'" + TOKEN + "'}", {})
        program.rpc("execute_tool", {"name": braced})
        modern(program, "tools/call", {"name": braced, "arguments": {}})
        modern(program, "{'" + TOKEN + "'}", {})
        modern(program, "resources/read", {"uri": "x+{" + TOKEN})
        modern(program, "prompts/get", {"name": braced})
        raw(program, "POST", "/v1/tools/%7B" + TOKEN, b"{}")
        raw(program, "GET", "/%7B" + TOKEN)
        for body in ('{"a": TOKEN', '{"a": "TOKEN', "{'a': 'TOKEN'}", '{"a": "b"} TOKEN', "[TOKEN", '{"text": "' + "x" * 24000 + ' TOKEN ' + "y" * 9000 + '"}'):
            responses.append(raw(program, "POST", "/v1/tools/lobby__echo", body.replace("TOKEN", TOKEN).encode()))
            responses.append(raw(program, "POST", "/rpc", ('{"jsonrpc":"2.0","id":1,"method":' + body).replace("TOKEN", TOKEN).encode()))
        long = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "execute_tool", "params": {"name": "lobby__echo", "arguments": {"text": "z" * 15000 + " " + TOKEN + "z " * 9000}}})
        responses.append(raw(program, "POST", "/rpc", long.encode()))
        assert len(NOISE) == 5
        for answer in responses:
            assert TOKEN not in answer and PASSWORD not in answer, answer[:500]
        for node in program.nodes:
            node.stop()
        places = [name for name, text in written(program) if TOKEN.encode() in text or PASSWORD.encode() in text]
        assert not places, places


STRINGS = [
    "postgres://app:$ecret123@db/x",
    "postgres://app:%24ecret123@db/x",
    "postgres://app:{ecret123@db/x",
    "postgres://app:<ecret123@db/x",
    "postgres://app:[ecret123@db/x",
    "postgres://app:it's-ecret123@db/x",
    "postgres://" + "u" * 2000 + ":xecret123@db/x",
    "host=db user=app password=xecret123 dbname=x",
    "host=db user=app password='xecret123' dbname=x",
    "jdbc:mysql://h/db?user=root&password=xecret123",
    '{"dsn":"postgres:\\/\\/app:xecret123@db"}',
    "Server=db;User Id=app;Password=xecret123;",
]
PLACEHOLDERS = ["postgres://app:${PASSWORD}@db", "postgres://app:$PASSWORD@db", "postgres://app:<password>@db", "postgres://app:{password}@db", "postgres://app:****@db"]


def connection_strings_are_recognised(binary, home):
    """M5: passwords that begin with a sign, other forms of connection strings, escaped slashes."""
    with Program(binary, home, 'servers = ["lobby"]\n') as program:
        for text in STRINGS:
            response = json.dumps(program.tool("echo", text=text))
            assert "ecret123" not in response and "[redacted: secrets/connection_string]" in response, (text, response)
        for text in PLACEHOLDERS:
            response = json.dumps(program.tool("echo", text=text))
            assert "redacted" not in response, (text, response)


def escaped_slashes_hide_no_webhook(binary, home):
    """M5: one level of JSON within a text, as PHP writes it, around a webhook of Slack."""
    hook = "https://hooks.slack.com/services/T01ABCDEF/B01GHIJKL/" + "x7Rk2mPq9WvL4tZs8NcYaB3d"
    with Program(binary, home, 'servers = ["lobby"]\n') as program:
        for text in (hook, json.dumps({"hook": hook}), json.dumps({"hook": hook}).replace("/", "\\/"), "see " + hook.replace("/", "\\/")):
            response = json.dumps(program.tool("echo", text=text))
            assert "x7Rk2mPq9WvL4tZs8NcYaB3d" not in response and "[redacted: secrets/" in response, (text, response)


@one_node("a stored file is on the node that took it")
def files_are_looked_through_by_any_name(binary, home):
    """M9: `.env` and `.pem` were returned over REST without redaction, 8 of 17 file types in all."""
    names = ["a.txt", "a.env", ".env", "a.pem", "a.toml", "a.ini", "plain", "a.bin", "a.pdf", "a.png"]
    with Program(binary, home, 'servers = ["lobby"]\n') as program:
        for name in names:
            for content in (b"TOKEN=" + TOKEN.encode() + b"\n", b"\x89PNG\xff\xfe\x00" + TOKEN.encode() + b"\x00\xff"):
                made = json.loads(raw(program, "POST", "/v1/resources", *upload(name, content)))
                response = download(program, made["uri"])
                assert TOKEN.encode() not in response and b"[redacted: secrets/" in response, (name, content[:8], response[:200])
        for content in (b"harmless\n", bytes(range(256)) * 10):
            made = json.loads(raw(program, "POST", "/v1/resources", *upload("b.bin", content)))
            assert download(program, made["uri"]) == content


def upload(name, content):
    edge = b"edge-of-the-parts"
    parts = [b'Content-Disposition: form-data; name="type"\r\n\r\nnotes', b'Content-Disposition: form-data; name="file"; filename="%s"\r\n\r\n%s' % (name.encode(), content)]
    body = b"".join(b"--" + edge + b"\r\n" + part + b"\r\n" for part in parts) + b"--" + edge + b"--\r\n"
    return body, {"Content-Type": "multipart/form-data; boundary=" + edge.decode()}


def download(program, uri):
    with urllib.request.urlopen(program.address + "/v1/resources/" + uri, timeout=30) as answer:
        return answer.read()


def the_first_key_is_in_no_log(binary, home):
    """H11: standard output of a service is a log, so the key goes to its own file."""
    with Program(binary, home, 'require_key = true\nservers = ["lobby"]\n') as program:
        key = (home / "state" / "admin-key").read_text().strip()
        assert key.startswith("fw_") and (home / "state" / "admin-key").stat().st_mode & 0o777 == 0o600
        assert key not in "".join(program.screen) and "admin-key" in "".join(program.screen), program.screen


CASES = [nothing_is_written, connection_strings_are_recognised, escaped_slashes_hide_no_webhook, files_are_looked_through_by_any_name, the_first_key_is_in_no_log]
