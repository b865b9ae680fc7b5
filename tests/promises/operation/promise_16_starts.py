"""Slow and broken starts of upstreams are waited for, told apart and shown."""

import concurrent.futures
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from nodes import one_node
from program import Program, asked, scripted, upstream


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
    """H4: a server that cannot start is under "not running", and the log says why; its first caller gets the reason."""
    missing = '\n[[upstream]]\nname = "nosuch"\ncommand = ["/nonexistent/program"]\n'
    crash = '\n[[upstream]]\nname = "crash"\ncommand = ["python3", "-c", "import nothing_here"]\n'
    with Program(binary, home, "servers = []\n" + scripted(home, "shop") + missing + crash) as program:
        until = time.monotonic() + 10
        while "stop with" not in "".join(program.screen) and time.monotonic() < until:
            time.sleep(0.05)
        screen = "".join(program.screen)
        running, _, rest = screen.partition("not running")
        assert "/mcp/shop" in running and "nosuch" not in running and "crash" not in running, screen
        assert "nosuch does not start" in rest and "crash does not start" in rest, screen
        program.logged("nosuch", "ModuleNotFoundError")
        for name in ("nosuch", "crash"):
            assert call(program, f"{name}__x")["error"]["data"]["reason"] == "gateway/UPSTREAM_DOWN"


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
    a_late_start_is_not_called_a_failure,
    an_empty_discovery_is_no_modern_server,
    readiness_knows_the_ledger,
]
