"""The operator sees which servers work: over REST, at the terminal, in the metrics and in a browser."""

import json
import os
import signal
import subprocess
import urllib.error
import urllib.request

from program import KEYS, Program, scripted, until

TOKEN = "ghp_" + ("x7Rk2mPq9WvL4tZs8NcY" * 2)[:36]
BROKEN = f'\n[[upstream]]\nname = "broken"\ncommand = ["sh", "-c", "echo no use for {TOKEN} >&2; exit 3"]\n'


def listed(program, headers=()):
    status, body = program.ask("GET", "/v1/servers", headers=headers)
    assert status == 200, body
    return {server["name"]: server for server in body["servers"]}


def every_server_has_a_row(binary, home):
    """State, tools, starts, and the last failure without its secret."""
    with Program(binary, home, 'servers = ["lobby"]\n' + scripted(home, "shop") + scripted(home, "later", lazy=True) + BROKEN) as program:
        servers = listed(program)
        assert set(servers) == {"lobby", "shop", "later", "broken"}, servers
        shop, demo, later, broken = (servers[name] for name in ("shop", "lobby", "later", "broken"))
        assert (shop["kind"], shop["state"], shop["tools"], shop["starts"]) == ("program", "up", 1, 1), shop
        assert (demo["kind"], demo["state"]) == ("built-in", "up") and demo["tools"] > 2, demo
        assert (later["state"], later["lazy"], later["starts"]) == ("idle", True, 0) and "tools" not in later, later
        assert broken["state"] == "down" and broken["last_failure"]["reason"] == "gateway/UPSTREAM_CRASHED", broken
        assert broken["last_failure"]["text"].startswith("exit 3: no use for [redacted") and TOKEN not in json.dumps(broken), broken
        pid = int(subprocess.run(["pgrep", "-f", str(home / "shop.json")], capture_output=True, text=True).stdout.split()[-1])
        os.kill(pid, signal.SIGKILL)
        fallen = until("it is down", lambda: listed(program)["shop"]["state"] == "down" and listed(program)["shop"])
        assert fallen["last_failure"]["text"] == "killed by SIGKILL" and fallen["since"] > shop["since"], fallen
        assert program.ask("GET", "/readyz") == (200, {"status": "ready"})
        status, ready = program.ask("GET", "/readyz?verbose")
        parts = [(part["part"], part["name"], part["state"]) for part in ready["not_ready"]]
        assert (status, ready["status"], sorted(parts)) == (200, "ready", [("server", "broken", "down"), ("server", "shop", "down")]), ready
        assert program.ask("GET", "/readyz?verbose=maybe")[1]["detail"]["reason"] == "http/QUERY"
        assert "result" in program.mcp("tools/call", {"name": "shop__echo", "arguments": {}})
        again = listed(program)["shop"]
        assert (again["state"], again["starts"]) == ("up", 2) and again["last_failure"] == fallen["last_failure"], again


def only_developers_read_it(binary, home):
    """As other rows of the operator: a key without the role gets 403, nobody reads names without a key."""
    with Program(binary, home, "servers = []\n" + KEYS.file + BROKEN) as program:
        for headers, code in (((), 401), ((("X-API-Key", KEYS.ann),), 403)):
            assert program.ask("GET", "/v1/servers", headers=headers)[0] == code
        anonymous = program.ask("GET", "/readyz?verbose")[1]
        assert anonymous["not_ready"] == [{"part": "server", "state": "down"}], anonymous
        known = program.ask("GET", "/readyz?verbose", headers=(("X-API-Key", KEYS.ann),))[1]
        assert known["not_ready"] == [{"part": "server", "name": "broken", "state": "down"}], known


def the_command_prints_a_table(binary, home):
    with Program(binary, home, 'servers = ["lobby"]\n' + BROKEN) as program:
        address = program.address.removeprefix("http://")
        code, output = program.run("status", "--address", address)
        rows = {line.split()[0]: line.split() for line in output.splitlines() if not line.startswith(" ")}
        assert code == 1 and rows["lobby"][1:3] == ["built-in", "up"] and rows["broken"][1:3] == ["program", "down"], output
        assert "last failure: exit 3: no use for [redacted" in output and TOKEN not in output, output
        code, output = program.run("status", "--address", address, "--json")
        assert code == 1 and {row["name"] for row in json.loads(output)["servers"]} == {"lobby", "broken"}, output
    code, output = program.run("status", "--address", address)
    assert code == 1 and output.startswith("error: no program answers at "), output


def metrics_are_described_and_count_tools(binary, home):
    """M18: `# HELP`, the version, calls by server, tool and outcome."""
    with Program(binary, home, 'servers = ["lobby"]\n' + scripted(home, "shop")) as program:
        assert "result" in program.mcp("tools/call", {"name": "shop__echo", "arguments": {}})
        program.tool("lobby__fail", reason="gateway/UPSTREAM_TIMEOUT")
        text = program.ask("GET", "/metrics")[1].decode()
        lines = text.splitlines()
        names = {line.split()[2] for line in lines if line.startswith("# TYPE ")}
        assert names == {line.split()[2] for line in lines if line.startswith("# HELP ") and len(line.split()) > 4}, text
        assert 'failwell_tool_calls_total{server="shop",tool="echo",outcome="ok"} 1' in lines, text
        assert any(line.startswith('failwell_tool_calls_total{server="lobby",tool="fail",') and line.endswith(" 1") for line in lines), text
        assert any(line.startswith('failwell_build_info{version="') and line.endswith(" 1") for line in lines), text


def guard_lines_name_the_server(binary, home):
    """M26: which server a secret came from."""
    with Program(binary, home, 'servers = ["lobby"]\n' + scripted(home, "shop")) as program:
        program.tool("lobby__echo", text=TOKEN)
        lines = until("a finding", lambda: [json.loads(line) for line in program.logged().splitlines() if '"guard":"secrets"' in line])
        assert {line["server"] for line in lines} == {"lobby"}, lines


def page(program, **headers):
    request = urllib.request.Request(program.address + "/", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.headers, refusal.read().decode()


def a_browser_gets_a_page(binary, home):
    """H10: what this is and where to go, without scripts; programs get JSON as before."""
    with Program(binary, home, 'servers = ["lobby"]\n') as program:
        code, headers, text = page(program, Accept="text/html,application/xhtml+xml,*/*;q=0.8")
        assert (code, headers["Content-Type"]) == (200, "text/html; charset=utf-8"), text
        assert f"{program.address}/mcp" in text and "/openapi.json" in text and "<script" not in text, text
        assert "default-src 'none'" in headers["Content-Security-Policy"], headers
        for accept in ("*/*", "application/json"):
            code, headers, text = page(program, Accept=accept)
            assert code == 404 and json.loads(text)["detail"]["reason"] == "http/UNKNOWN_PATH", text
        code, headers, text = page(program, Accept="text/html", Host="evil.example")
        assert code != 200 and "<html" not in text, text


CASES = [
    every_server_has_a_row,
    only_developers_read_it,
    the_command_prints_a_table,
    metrics_are_described_and_count_tools,
    guard_lines_name_the_server,
    a_browser_gets_a_page,
]
