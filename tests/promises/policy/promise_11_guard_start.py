"""A guard that cannot start is found before the first message: by `check` and at the start."""

import concurrent.futures
import json
import subprocess
import sys
import time

from nodes import one_node
from program import Program

HELLO = {"jsonrpc": "2.0", "id": 7, "method": "initialize",
         "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}


def guard(command, more=""):
    return f'servers = ["lobby"]\n[[guard.custom]]\nname = "marks"\ncommand = {json.dumps(command)}\n{more}\n'


def run(binary, home, settings, *arguments, message=""):
    home.mkdir(parents=True)
    (home / "failwell.toml").write_text(settings)
    return subprocess.run([binary, *arguments], cwd=home, input=message, capture_output=True, text=True, timeout=60,
                          env={"PATH": "/usr/bin:/bin", "HOME": str(home), "FAILWELL_STATE": str(home / "state")})


def up_refuses(binary, home, settings):
    up = run(binary, home / "up", settings, "up", "--listen", "127.0.0.1:0")
    assert up.returncode == 1 and not up.stdout and "marks" in up.stderr + up.stdout, (up.stdout, up.stderr)


def stdio_refuses(binary, home, settings):
    """The first request is answered with −32002."""
    stdio = run(binary, home / "stdio", settings, "stdio", message=json.dumps(HELLO) + "\n")
    answer = json.loads(stdio.stdout.splitlines()[0])
    assert (answer["id"], answer["error"]["code"]) == (7, -32002), answer
    assert answer["error"]["data"]["reason"] == "config/PLUGIN", answer
    assert stdio.returncode == 1, stdio


@one_node("it is about one process that does not start")
def a_missing_program_fails_the_check(binary, home):
    """D6: `failwell check` and the start report the guard with its position in the file."""
    checked = run(binary, home / "check", guard(["./missing"]), "check")
    assert checked.returncode == 1 and "failwell.toml:4:1" in checked.stderr and "cannot be started" in checked.stderr, checked
    (home / "folder").mkdir(parents=True)
    for command in (["no-such-program-here"], [str(home / "folder")], ["/etc/passwd"]):
        checked = run(binary, home / command[0].replace("/", "-"), guard(command), "check", "--json")
        assert checked.returncode == 1 and json.loads(checked.stdout)["problems"][0]["line"] == 4, checked
    assert run(binary, home / "fine", guard(["python3", "guard.py"]), "check").returncode == 0
    stdio = run(binary, home / "stdio", guard(["./missing"]), "stdio", message=json.dumps(HELLO) + "\n")
    assert json.loads(stdio.stdout.splitlines()[0])["error"]["code"] == -32002, stdio
    assert run(binary, home / "up", guard(["./missing"]), "up", "--listen", "127.0.0.1:0").returncode == 1


@one_node("it is about one process that does not start")
def a_program_that_gives_no_verdict_fails_the_start(binary, home):
    """D6: a guard that exits, sends invalid lines or never answers makes the start fail."""
    commands = {
        "crash": [sys.executable, "-c", "import nothing_here"],
        "silent": [sys.executable, "-c", "import time; time.sleep(600)"],
        "nonsense": [sys.executable, "-uc", "for line in open(0): print('{\"id\": 1, \"verdict\": \"perhaps\"}')"],
    }
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        tries = [pool.submit(refuses, binary, home / name, guard(command))
                 for name, command in commands.items() for refuses in (up_refuses, stdio_refuses)]
        for tried in tries:
            tried.result()


def a_guard_that_is_not_critical_is_said_to_be_disabled(binary, home):
    """D6: a guard that is not critical is reported on the first screen and in the log, and delays no message."""
    with Program(binary, home, guard(["./missing"], "critical = false\ntimeout_ms = 3000")) as program:
        began = time.monotonic()
        status, body = program.tool("echo", text="hello")
        assert status == 200 and body == {"text": "hello"}, body
        assert time.monotonic() - began < 2, "the call waited for a guard that does not run"
        screen = "".join(program.screen)
        assert "guard marks is disabled" in screen, screen
        program.logged("config/PLUGIN", "marks")
    checked = run(binary, home / "check", guard(["./missing"], "critical = false"), "check")
    assert checked.returncode == 0 and "guard marks would be disabled" in checked.stderr, checked


CASES = [
    a_missing_program_fails_the_check,
    a_program_that_gives_no_verdict_fails_the_start,
    a_guard_that_is_not_critical_is_said_to_be_disabled,
]
