"""`errors` decides what callers see of a failed upstream tool; the operator sees everything."""

import json
import sys

from mcp_client import Session, modern
from program import SERVERS, Program, until

SERVER = SERVERS / "failing_server.py"
LEAKS = ["/srv/app", "10.1.2.3", "Traceback", "db.internal", "handler.py"]


def settings(errors):
    command = json.dumps([sys.executable, str(SERVER)])
    line = f'errors = "{errors}"\n' if errors else ""
    return f'servers = ["lobby"]\n[[upstream]]\nname = "shop"\ncommand = {command}\n{line}'


def faces(program, tool, arguments):
    """The responses to a call in every dialect, and their texts."""
    call = {"name": f"shop__{tool}", "arguments": arguments}
    yield "rest", json.dumps(program.tool(f"shop__{tool}", **arguments)[1])
    yield "rpc", json.dumps(program.rpc("execute_tool", call))
    yield "modern", json.dumps(modern(program, "tools/call", call))
    yield "session", json.dumps(Session(program).request("tools/call", call))
    yield "single", json.dumps(modern(program, "tools/call", {**call, "name": tool}, "/mcp/shop"))


def told_to_the_operator(program):
    return program.logged() + json.dumps(program.records())


def scrub_removes_places(binary, home):
    """L1: tracebacks, addresses and paths are removed; the message, and a path that the caller named, stay."""
    with Program(binary, home, settings("scrub")) as program:
        for tool in ("fail", "fail_structured"):
            for face, text in faces(program, tool, {"file": "/data/mine.csv"}):
                assert not [leak for leak in LEAKS if leak in text], (face, text)
                assert "/data/mine.csv" in text and "no row 7" in text, (face, text)
                assert tool == "fail" or "opens" in text and "09:00" in text, (face, text)
        until("the whole text in the ledger", lambda: all(leak in told_to_the_operator(program) for leak in LEAKS))


def replace_keeps_our_sentence(binary, home):
    with Program(binary, home, settings("replace")) as program:
        for tool in ("fail", "fail_structured"):
            for face, text in faces(program, tool, {"file": "/data/mine.csv"}):
                assert not [leak for leak in [*LEAKS, "no row 7", "09:00"] if leak in text], (face, text)
                assert "The tool reported a failure" in text, (face, text)
        until("the whole text in the ledger", lambda: all(leak in told_to_the_operator(program) for leak in [*LEAKS, "no row 7"]))


def pass_is_the_default(binary, home):
    for errors in ("", "pass"):
        with Program(binary, home.parent / f"{home.name}-{errors}", settings(errors)) as program:
            for face, text in faces(program, "fail_structured", {"file": "/data/mine.csv"}):
                assert all(leak in text for leak in LEAKS), (face, text)
            for face, text in faces(program, "succeed", {}):
                assert "/srv/app" in text, (face, text)


def results_without_failure_stay(binary, home):
    with Program(binary, home, settings("replace")) as program:
        for face, text in faces(program, "succeed", {}):
            assert "/srv/app" in text, (face, text)


CASES = [scrub_removes_places, replace_keeps_our_sentence, pass_is_the_default, results_without_failure_stay]
