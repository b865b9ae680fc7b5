"""Slow and broken starts of upstreams are waited for, told apart and shown."""

import concurrent.futures
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from nodes import one_node
from program import Program, asked, scripted, until, upstream


def call(program, name):
    return program.mcp("tools/call", {"name": name, "arguments": {}})


def servers_start_before_the_first_call(binary, home):
    """C2, H4: a server that starts slowly is ready when the first call arrives."""
    with Program(binary, home, "servers = []\n" + scripted(home, "shop")) as program:
        until = time.monotonic() + 20
        while not any(request["method"] == "tools/list" for request in asked(home, "shop")):
            assert time.monotonic() < until, "nobody started it"
            time.sleep(0.05)
        assert "result" in call(program, "shop__echo")
        assert sum(request["method"] == "initialize" for request in asked(home, "shop")) == len(program.nodes), "one start for both"


def a_broken_server_is_not_called_running(binary, home):
    """H4: a server that cannot start is down from the first line on, which says why; its first caller gets the reason."""
    missing = '\n[[upstream]]\nname = "nosuch"\ncommand = ["/nonexistent/program"]\n'
    crash = '\n[[upstream]]\nname = "crash"\ncommand = ["python3", "-c", "import nothing_here"]\n'
    with Program(binary, home, "servers = []\n" + scripted(home, "shop") + missing + crash) as program:
        servers = {server["name"]: server for server in program.started["servers"]}
        assert (servers["shop"]["state"], servers["shop"]["tools"]) == ("up", 1), servers
        assert (servers["nosuch"]["state"], servers["nosuch"]["why"]) == ("down", "`/nonexistent/program` was not found"), servers
        assert servers["crash"]["state"] == "down", servers
        assert servers["crash"]["why"] == "exit 1: ModuleNotFoundError: No module named 'nothing_here'", servers
        program.logged("nosuch", "ModuleNotFoundError")
        for name in ("nosuch", "crash"):
            assert call(program, f"{name}__x")["error"]["data"]["reason"] == "gateway/UPSTREAM_DOWN"


def a_person_sees_servers_come_up(binary, home):
    """H4, H3: one line for each server, how to connect, and nothing that fails among what runs."""
    missing = '\n[[upstream]]\nname = "nosuch"\ncommand = ["/nonexistent/program"]\n'
    later = '\n[[upstream]]\nname = "later"\nlazy = true\ncommand = ["/nonexistent/program"]\n'
    (home / "failwell.toml").write_text("servers = []\n" + scripted(home, "shop") + missing + later)
    environment = {**os.environ, "FAILWELL_STATE": str(home / "state"), "NO_COLOR": "1"}
    environment.pop("FAILWELL_KEY", None)
    leader, follower = pty.openpty()
    program = subprocess.Popen([binary, "up", "--listen", "127.0.0.1:0"], cwd=home, env=environment, stdin=subprocess.DEVNULL,
                               stdout=follower, stderr=subprocess.DEVNULL)
    os.close(follower)
    try:
        screen, until = "", time.monotonic() + 30
        while "stop with Ctrl-C" not in screen:
            assert time.monotonic() < until, screen
            screen += os.read(leader, 4096).decode().replace("\r", "")
    finally:
        program.terminate()
        program.wait(20)
        os.close(leader)
    assert f"configuration failwell.toml\nstate         {home}/state\n" in screen, screen
    servers = screen.partition("\nservers\n")[2].partition("\n\n")[0]
    assert re.search(r"^  shop +✓ 1 tool, \d+\.\d s$", servers, re.M), screen
    assert re.search(r"^  nosuch +✗ `/nonexistent/program` was not found$", servers, re.M), screen
    assert re.search(r"^  later +· starts when it is first needed$", servers, re.M), screen
    address = re.search(r"is up on (http://\S+)", screen)[1]
    connect = screen.partition("\nconnect\n")[2].partition("\n\n")[0]
    assert f"claude mcp add --transport http failwell {address}/mcp\n" in connect, screen
    for client in ("Claude Desktop", "Cursor", "VS Code"):
        assert re.search(rf"^  {client} .*\{{", connect, re.M), screen


def the_log_tells_the_life_of_a_server(binary, home):
    """H4: started with its tools, ended with the reason, restarted by the next call."""
    with Program(binary, home, "servers = []\n" + scripted(home, "shop")) as program:

        def life(count):
            def matching():
                lines = [json.loads(line) for line in program.logged().splitlines()]
                lines = [line for line in lines if line.get("service") == "servers"]
                return lines if len(lines) >= count else None

            return until(f"{count} lines", matching)

        started, = life(1)
        assert (started["event"], started["server"], started["tools"], started["level"]) == ("started", "shop", 1, "info"), started
        assert 0 < started["seconds"] < 30, started
        pid = int(subprocess.run(["pgrep", "-f", str(home / "shop.json")], capture_output=True, text=True).stdout.split()[-1])
        os.kill(pid, signal.SIGKILL)
        ended = life(2)[1]
        assert (ended["event"], ended["why"], ended["level"]) == ("ended", "killed by SIGKILL", "warn"), ended
        assert "result" in call(program, "shop__echo")
        again = life(3)[2]
        assert (again["event"], again["tools"]) == ("restarted", 1), again


def a_lazy_server_starts_at_the_first_need(binary, home):
    """`lazy = true`: `up` does not start it, the first call does."""
    with Program(binary, home, "servers = []\n" + scripted(home, "shop", lazy=True) + scripted(home, "eager")) as program:
        servers = {server["name"]: server["state"] for server in program.started["servers"]}
        assert servers == {"shop": "lazy", "eager": "up"}, servers
        assert asked(home, "shop") == [], "nobody needed it"
        assert "result" in call(program, "shop__echo")
        program.logged('"server shop started"')


def a_late_start_is_not_called_a_failure(binary, home):
    """C2: after a start timeout, a call during the pause gets the reason and the time to retry."""
    slow = upstream("slow", "--start-after", 30, start_timeout_s=2, timeout_s=5)
    with Program(binary, home, "servers = []\n" + slow) as program:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            first = [pool.submit(call, program, "slow__x") for _ in range(2)]
            answers = [one.result() for one in first]
        for _ in range(3):
            answers.append(call(program, "slow__x"))
        for answer in answers:
            data = answer["error"]["data"]
            assert data["reason"] == "gateway/UPSTREAM_STARTING", answer
            assert data["retry_after_ms"] > 0 and data["effect"] == "none", data


def an_empty_discovery_is_no_modern_server(binary, home):
    """A server that answers everything with `{}` is asked in the older way too, and its tools are listed."""
    with Program(binary, home, "servers = []\n" + scripted(home, "shop", {"server/discover": {"result": {}}})) as program:
        tools = program.mcp("tools/list", {})["result"]["tools"]
        assert [tool["name"] for tool in tools] == ["shop__echo"], tools


def status(program, path):
    try:
        with urllib.request.urlopen(program.address + path, timeout=30) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.loads(refusal.read())


@one_node("each node has a ledger of its own")
def readiness_knows_the_ledger(binary, home):
    """D19, L12: while a critical ledger cannot be written, the program is alive and not ready."""
    with tempfile.TemporaryDirectory() as small:
        mounted = os.getuid() == 0 and shutil.which("mount") and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", small], capture_output=True).returncode == 0
        assert mounted, "this case fills a small file system, which needs root"
        try:
            settings = f'servers = ["lobby"]\ndata_dir = "{small}"\n[audit]\ncritical = true\n'
            with Program(binary, home, settings) as program:
                assert status(program, "/readyz") == (200, {"status": "ready"})
                full = open(f"{small}/full", "wb")
                try:
                    while True:
                        full.write(b"x" * 4096)
                        full.flush()
                except OSError:
                    pass
                until = time.monotonic() + 20
                while status(program, "/readyz")[0] == 200:
                    program.tool("echo", text="x" * 20_000)
                    assert time.monotonic() < until, "it says that it is ready"
                assert status(program, "/healthz")[0] == 200
                try:
                    full.close()
                except OSError:
                    pass
                os.remove(f"{small}/full")
                until = time.monotonic() + 20
                while status(program, "/readyz")[0] != 200:
                    program.tool("echo", text="x")
                    assert time.monotonic() < until, "it is never ready again"
                    time.sleep(0.1)
        finally:
            subprocess.run(["umount", "-l", small], check=True)


CASES = [
    servers_start_before_the_first_call,
    a_broken_server_is_not_called_running,
    a_person_sees_servers_come_up,
    the_log_tells_the_life_of_a_server,
    a_lazy_server_starts_at_the_first_need,
    a_late_start_is_not_called_a_failure,
    an_empty_discovery_is_no_modern_server,
    readiness_knows_the_ledger,
]
