"""A server or tool that is hidden from a caller answers like one that does not exist."""

import hashlib
import json
import re
import time
import urllib.error
import urllib.request

from nodes import one_node
from program import Program, scripted

ALICE, BOB = "fw_alice_0123456789abcdef", "fw_bob_0123456789abcdef00"
HIDDEN = '\n[[rule]]\ncallers = ["key:bob"]\nservers = ["secret"]\n' + "".join(
    f'{kind} = {{ hide = ["*"] }}\n' for kind in ("tools", "prompts", "resources"))


def keys(*names):
    holders = {"alice": ALICE, "bob": BOB}
    return "".join(f'\n[[key]]\nname = "{name}"\nhash = "sha256:{hashlib.sha256(holders[name].encode()).hexdigest()}"\n'
                   for name in names or holders)


def missing(name):
    return f'\n[[upstream]]\nname = "{name}"\ncommand = ["/nonexistent/program"]\n'


def fetch(program, path, key=None, body=None, **headers):
    """Status and text of a response, without the values that differ between any two responses."""
    head = {"X-API-Key": key} if key else {}
    head |= {name.replace("_", "-"): value for name, value in headers.items()}
    data = json.dumps(body).encode() if body is not None else None
    if data:
        head["Content-Type"] = "application/json"
    try:
        with urllib.request.urlopen(urllib.request.Request(program.address + path, data, head), timeout=60) as answer:
            status, text = answer.status, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        status, text = refusal.code, refusal.read().decode()
    text = re.sub(r'"(ref|request_id)":"[^"]*"|ref [0-9a-z]{8,}|"timestamp":"[^"]*"', "REF", text)
    return status, text


def mcp(program, key, method, params, path="/mcp"):
    headers = {"Accept": "application/json, text/event-stream", "MCP_Protocol_Version": "2026-07-28", "Mcp_Method": method}
    named = params.get("name") or params.get("uri")
    if named:
        headers["Mcp_Name"] = named
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    return fetch(program, path, key, body, **headers)


def alike(program, ask):
    """Checks that `ask` gets the same response for the hidden server and for an unknown one."""
    hidden, unknown = ask("secret"), ask("zecret")
    assert hidden[1].replace("secret", "NAME") == unknown[1].replace("zecret", "NAME") and hidden[0] == unknown[0], (hidden, unknown)


def a_hidden_server_that_is_down_is_unknown(binary, home):
    """D3: lists do not name it, and every call of it gets the response for an unknown name."""
    with Program(binary, home, "servers = []\n" + keys() + scripted(home, "shop") + missing("secret") + HIDDEN) as program:
        assert "secret" in mcp(program, ALICE, "tools/list", {})[1], "who may see it is told that it is down"
        for method in ("tools/list", "prompts/list", "resources/list", "resources/templates/list"):
            status, text = mcp(program, BOB, method, {})
            assert status == 200 and "secret" not in text, text
        for path in ("/v1/tools", "/openapi.json"):
            # The operations on keys speak of the secrets of keys.
            text = re.sub("their secrets|its secret is shown", "", fetch(program, path, BOB)[1])
            assert "secret" not in text, path
        alike(program, lambda name: mcp(program, BOB, "tools/call", {"name": f"{name}__x", "arguments": {}}))
        alike(program, lambda name: mcp(program, BOB, "prompts/get", {"name": f"{name}__x"}))
        alike(program, lambda name: mcp(program, BOB, "resources/read", {"uri": f"{name}+file:///x"}))
        for ref in ({"type": "ref/prompt", "name": "NAME__x"}, {"type": "ref/resource", "uri": "NAME+file:///{x}"}):
            alike(program, lambda name: mcp(program, BOB, "completion/complete", {
                "ref": json.loads(json.dumps(ref).replace("NAME", name)), "argument": {"name": "a", "value": ""}}))
        alike(program, lambda name: fetch(program, f"/v1/tools/{name}__x", BOB, {}))
        alike(program, lambda name: fetch(program, "/rpc", BOB, {"jsonrpc": "2.0", "id": 1, "method": f"{name}__x", "params": {}}))


@one_node("each node starts a child of its own")
def a_hidden_server_is_not_started(binary, home):
    """D3: a caller who may see nothing of a server cannot start it either."""
    idle = scripted(home, "secret", idle_stop_s=1)
    with Program(binary, home, "servers = []\n" + keys() + scripted(home, "shop") + idle + HIDDEN) as program:
        def numbers():
            return dict(re.findall(r'failwell_upstream_(starts_total\{upstream="secret"|state\{upstream="secret",state="idle")\} (\d+)',
                                   fetch(program, "/metrics", ALICE)[1]))

        assert mcp(program, ALICE, "tools/call", {"name": "secret__echo", "arguments": {}})[0] == 200
        until = time.monotonic() + 30
        while numbers()['state{upstream="secret",state="idle"'] != "1" and time.monotonic() < until:
            time.sleep(0.2)
        before = numbers()
        assert before['state{upstream="secret",state="idle"'] == "1", before
        for _ in range(2):
            alike(program, lambda name: mcp(program, BOB, "tools/call", {"name": f"{name}__echo", "arguments": {}}))
            mcp(program, BOB, "tools/list", {})
            mcp(program, BOB, "resources/read", {"uri": "secret+file:///x"})
            mcp(program, BOB, "tools/list", {}, path="/mcp/secret")
        assert numbers() == before, (before, numbers())


def a_hidden_server_has_no_path(binary, home):
    """L15: `/mcp/<server>` is 404 like an unknown one; without a key both are 401."""
    with Program(binary, home, "servers = []\n" + keys() + scripted(home, "shop") + scripted(home, "secret") + HIDDEN) as program:
        assert mcp(program, ALICE, "tools/list", {}, path="/mcp/secret")[0] == 200
        assert mcp(program, ALICE, "tools/list", {}, path="/mcp/zecret")[0] == 404
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
                 "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
        both = {"Accept": "application/json, text/event-stream"}
        for key, expected in ((BOB, 404), (None, 401), ("wrong", 401)):
            for ask in (lambda name: mcp(program, key, "tools/list", {}, path=f"/mcp/{name}"),
                        lambda name: fetch(program, f"/mcp/{name}", key, hello, **both),
                        lambda name: fetch(program, f"/mcp/{name}", key, **both)):
                alike(program, ask)
                assert ask("secret")[0] == expected, (key, ask("secret"))


def a_hidden_server_has_no_numbers(binary, home):
    """L15: `/metrics` has the servers that its reader may see."""
    with Program(binary, home, "servers = []\n" + keys() + scripted(home, "shop") + missing("secret") + HIDDEN) as program:
        mcp(program, ALICE, "tools/list", {})
        seen, whole = fetch(program, "/metrics", BOB)[1], fetch(program, "/metrics", ALICE)[1]
        assert 'upstream="shop"' in seen and 'upstream="secret"' not in seen
        assert 'upstream="secret"' in whole


def hidden_tools_of_a_server_with_nothing_else(binary, home):
    """L15: a rule about tools hides a server that has only tools, before and after its first start."""
    rule = '\n[[rule]]\ncallers = ["key:bob"]\nservers = ["secret", "never"]\ntools = { hide = ["*"] }\n'
    settings = "servers = []\n" + keys() + scripted(home, "shop") + scripted(home, "secret") + missing("never") + rule
    with Program(binary, home, settings) as program:
        assert "secret__echo" in mcp(program, ALICE, "tools/list", {})[1]
        for name in ("secret", "never"):
            assert name not in mcp(program, BOB, "tools/list", {})[1]
            assert f'"{name}"' not in fetch(program, "/metrics", BOB)[1]
            assert mcp(program, BOB, "tools/list", {}, path=f"/mcp/{name}")[0] == 404
        alike(program, lambda name: mcp(program, BOB, "tools/call", {"name": f"{name}__echo", "arguments": {}}))


def completion_needs_the_permission(binary, home):
    """L4: completion of a prompt or template needs the permission to get or read it."""
    offers = {"protocolVersion": "2025-11-25", "capabilities": {"prompts": {}, "resources": {}, "completions": {}},
              "serverInfo": {"name": "s", "version": "1"}}
    script = {
        "initialize": {"result": offers},
        "prompts/list": {"result": {"prompts": [{"name": "plan", "arguments": [{"name": "a"}]}]}},
        "resources/templates/list": {"result": {"resourceTemplates": [{"name": "t", "uriTemplate": "note:///{a}"}]}},
        "resources/list": {"result": {"resources": []}},
        "completion/complete": {"result": {"completion": {"values": ["leaked"]}}},
    }
    settings = scripted(home, "notes", script)
    see = 'permit (principal, action == Action::"see", resource);\n'
    home.mkdir(parents=True, exist_ok=True)
    (home / "policy.cedar").write_text(see + 'permit (principal == Caller::"key:alice", action, resource);\n')
    with Program(binary, home, 'servers = []\ncedar = "policy.cedar"\n' + keys() + settings) as program:
        for path, prefix, uri in (("/mcp", "notes__", "notes+"), ("/mcp/notes", "", "")):
            for ref in ({"type": "ref/prompt", "name": f"{prefix}plan"}, {"type": "ref/resource", "uri": uri + "note:///{a}"}):
                ask = {"ref": ref, "argument": {"name": "a", "value": ""}}
                for _ in range(2):
                    text = mcp(program, BOB, "completion/complete", ask, path=path)[1]
                    assert "leaked" not in text and "policy/DENIED" in text, (path, ref, text)
                text = mcp(program, ALICE, "completion/complete", ask, path=path)[1]
                assert "leaked" in text, (path, ref, text)


CASES = [
    a_hidden_server_that_is_down_is_unknown,
    a_hidden_server_is_not_started,
    a_hidden_server_has_no_path,
    a_hidden_server_has_no_numbers,
    hidden_tools_of_a_server_with_nothing_else,
    completion_needs_the_permission,
]
