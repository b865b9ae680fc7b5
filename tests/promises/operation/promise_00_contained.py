"""Code of callers is contained, lists and slow starts work for every client, a failed tool is a failure."""

import concurrent.futures
import json
import os
import pathlib
import tempfile
import time

from nodes import one_node
from program import Program, upstream

# An interpreter with pytest.
PYTHON = pathlib.Path(os.environ["FAILWELL_PYTEST"]) / "9" / "bin" / "python"

GREEDY = {
    "join": "def f(x: int) -> int:\n    a = [0]\n    while True:\n        a = a + a\n",
    "module": "a = [0]\nwhile True:\n    a = a + a\ndef f(x: int) -> int: return x\n",
    "many": "def f(x: int) -> int:\n    a = []\n    while True:\n        a.append([0] * 1000000)\n",
}

# Reaches `os` through computed names, when the worker prints the exception.
METADATA = '''
import string
class E(Exception):
    def __str__(self):
        u = chr(95) * 2
        F = string.Formatter()
        g = lambda o, n: F.get_field("0." + u + n + u, (o,), {})[0]
        told = ""
        wraps = [c for c in g(g(g((), "class"), "base"), "subclasses")() if g(c, "name") == "_wrap_close"]
        names = g(g(wraps[0], "init"), "globals")
        for act in (lambda: names["chmod"]("FILE", 0o4777), lambda: names["chown"]("FILE", 65534, 65534),
                    lambda: names["utime"]("FILE", (1, 1)), lambda: names["setxattr"]("FILE", "user.mark", b"x")):
            try:
                act()
                told += "DONE "
            except BaseException as refused:
                told += "refused "
        return told
def f(x: int) -> int:
    raise E()
'''

PROJECT = '''
import os
import pathlib

OUTSIDE = "FILE"


def refused(act):
    try:
        act()
    except OSError:
        return True
    return False


def test_outside():
    kept = os.stat(OUTSIDE)
    assert refused(lambda: os.chmod(OUTSIDE, 0o4777))
    assert refused(lambda: os.chown(OUTSIDE, 65534, 65534)) or os.getuid() != 0
    assert refused(lambda: os.utime(OUTSIDE, (1, 1)))
    assert os.stat(OUTSIDE) == kept


def test_inside(tmp_path):
    for file in (tmp_path / "a", pathlib.Path("made")):
        file.write_text("x")
        file.chmod(0o640)
        os.utime(file, (1, 1))
        assert (file.stat().st_mode & 0o777, file.stat().st_mtime) == (0o640, 1)
'''


def state(path):
    """The metadata of a file that must not change."""
    found = os.stat(path)
    return found.st_mode, found.st_uid, found.st_gid, found.st_mtime_ns, os.listxattr(path)


@one_node("it measures the memory of one process")
def greedy_code_ends_nothing(binary, home):
    """S1: four lines of Python take all memory; the gateway and every other server answer as before."""
    with Program(binary, home, 'servers = ["lobby", "symbolic"]\n') as program:
        def analyse(code):
            return program.tool("symbolic__symbolic_check", code=code, function_name="f", timeout_seconds=10)

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            running = {name: pool.submit(analyse, code) for name, code in GREEDY.items()}
            while not all(future.done() for future in running.values()):
                began = time.monotonic()
                status, body = program.tool("lobby__echo", text="still here")
                assert status == 200 and "still here" in str(body), (status, body)
                assert time.monotonic() - began < 5, "a call waited for the analysis"
                held = int(pathlib.Path(f"/proc/{program.process.pid}/status").read_text().split("VmRSS:")[1].split()[0])
                assert held < 300_000, f"the program holds {held} kB"
                time.sleep(0.1)
            for name, future in running.items():
                status, body = future.result()
                assert status == 504 and body["detail"]["reason"] in ("symbolic/MEMORY", "symbolic/BOUND", "symbolic/TIMEOUT"), (name, body)


def analysed_code_changes_no_file(binary, home):
    """S2: mode, owner, dates and attributes of a file outside stay as they were."""
    with Program(binary, home, 'servers = ["lobby", "symbolic"]\n') as program:
        file = home / "outside"
        file.write_text("kept")
        kept = state(file)
        status, body = program.tool("symbolic__symbolic_check", code=METADATA.replace("FILE", str(file)), function_name="f")
        assert status in (200, 422) and "DONE" not in str(body), (status, body)
        assert state(file) == kept, (kept, state(file), status, body)


def test_runs_change_no_file_outside(binary, home):
    """P6: the same for tests; in the project and in temporary folders they may."""
    project = pathlib.Path(f"{home}-project")
    project.mkdir(parents=True)
    # Tests may write to temporary folders and caches, so this is in neither.
    with tempfile.TemporaryDirectory(prefix="outside-", dir=PYTHON.parents[3]) as elsewhere:
        outside = pathlib.Path(elsewhere) / "file"
        outside.write_text("kept")
        (project / "test_it.py").write_text(PROJECT.replace("FILE", str(outside)))
        kept = state(outside)
        command = [str(binary), "serve", "pytest", "--project", str(project), "--python", str(PYTHON)]
        settings = f'[[upstream]]\nname = "tests"\ncommand = {json.dumps(command)}\nenv = {{ XDG_CACHE_HOME = "{home}/tmp" }}\n'
        with Program(binary, home, "servers = []\n" + settings) as program:
            status, body = program.tool("tests__execute_tests")
            assert status == 200 and body["summary"]["passed"] == 2, (status, body)
        assert state(outside) == kept


def lists_are_accepted_by_every_client(binary, home):
    """C1: no schema below `properties` or `items` is a boolean, and no format is unknown; a list is never refused whole."""
    servers = 'servers = ["lobby", "pytest", "symbolic", "tasks"]\n'
    with Program(binary, home, servers + upstream("shop")) as program:
        tools = program.mcp("tools/list", {})["result"]["tools"]
        names = {tool["name"] for tool in tools}
        assert {"shop__odd", "symbolic__symbolic_check", "tasks__rtm_call"} <= names, sorted(names)
        for tool in tools:
            for schema in (tool["inputSchema"], tool.get("outputSchema", {"type": "object"})):
                assert schema["type"] == "object", tool
                plain(schema, tool["name"])


FORMATS = {"date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uri-reference", "uuid", "regex",
           "json-pointer", "iri", "uri-template"}


def plain(schema, where):
    assert isinstance(schema, dict), f"{where}: {schema}"
    assert schema.get("format", "date") in FORMATS, f"{where}: {schema['format']}"
    for key in ("properties", "$defs", "definitions", "patternProperties"):
        for name, inner in schema.get(key, {}).items():
            plain(inner, f"{where}.{name}")
    for key in ("items", "not"):
        if key in schema:
            plain(schema[key], f"{where}.{key}")
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for inner in schema.get(key, []):
            plain(inner, f"{where}.{key}")


def slow_starts_are_waited_for(binary, home):
    """C2: `start_timeout_s` and `list_wait_s` hold, beyond ten seconds too."""
    slow = upstream("shop", "--start-after", 12, start_timeout_s=60, timeout_s=60, list_wait_s=60)
    with Program(binary, home, "servers = []\n" + slow) as program:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            call = pool.submit(program.mcp, "tools/call", {"name": "shop__succeed", "arguments": {}})
            listed = pool.submit(program.mcp, "tools/list", {})
            answer = call.result()
            assert answer.get("result", {}).get("structuredContent", {}).get("sold") == 1, answer
            assert {"shop__succeed", "shop__odd"} <= {tool["name"] for tool in listed.result()["result"]["tools"]}, listed.result()


def a_failed_tool_is_a_failure_everywhere(binary, home):
    """An upstream's `isError` has a status and a failure body over REST, is an `error` over `/rpc`, and is on record."""
    with Program(binary, home, 'servers = ["lobby"]\n' + upstream("shop")) as program:
        for tool in ("fail", "fail_structured"):
            status, body = program.tool(f"shop__{tool}")
            assert status == 502, (tool, status, body)
            assert isinstance(body["error_code"], int) and body["detail"]["reason"], body
            assert "the shop is closed" in str(body["detail"]), body
            response = program.rpc(f"shop__{tool}", {})
            assert "result" not in response and "the shop is closed" in str(response["error"]["data"]), response
            result = program.mcp("tools/call", {"name": f"shop__{tool}", "arguments": {}})["result"]
            assert result["isError"] is True and result["content"][0]["text"] == "the shop is closed", result
        assert program.tool("shop__fail_structured")[1]["detail"]["result"]["structuredContent"] == {"opens": "09:00"}
        status, body = program.tool("shop__succeed")
        assert (status, body) == (200, {"isError": True, "sold": 1}), (status, body)
        until, outcomes = time.monotonic() + 10, {}
        while time.monotonic() < until and sum(len(found) for found in outcomes.values()) < 8:
            outcomes = {}
            for record in program.records():
                outcomes.setdefault(record.get("target") or record.get("tool"), []).append(record["outcome"])
        assert outcomes["shop__fail"] == ["tool_failed"] * 3, outcomes
        assert outcomes["shop__fail_structured"] == ["tool_failed"] * 4, outcomes
        assert outcomes["shop__succeed"] == ["ok"], outcomes


CASES = [
    greedy_code_ends_nothing,
    analysed_code_changes_no_file,
    test_runs_change_no_file_outside,
    lists_are_accepted_by_every_client,
    slow_starts_are_waited_for,
    a_failed_tool_is_a_failure_everywhere,
]
