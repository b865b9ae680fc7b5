"""Code that takes memory, and engines that crash: each fails at most its own call."""

import os
import pathlib
import signal
import threading
import time

# (name, code). Every one defines f(x: int), and would take gigabytes within seconds.
GREEDY = [
    ("a list joined with itself", "def f(x: int) -> int:\n    a = [0]\n    while True:\n        a = a + a\n"),
    ("a list joined with itself when the module is loaded", "a = [0]\nwhile True:\n    a = a + a\ndef f(x: int) -> int: return x\n"),
    ("a list added to itself", "def f(x: int) -> int:\n    a = [0]\n    while True:\n        a += a\n"),
    ("a list extended by itself", "def f(x: int) -> int:\n    a = [0]\n    while True:\n        a.extend(a)\n"),
    ("a tuple joined with itself", "def f(x: int) -> int:\n    a = (0,)\n    while True:\n        a = a + a\n"),
    ("a deque joined with itself", "from collections import deque\ndef f(x: int) -> int:\n    a = deque([0])\n    while True:\n        a = a + a\n"),
    ("many large lists", "def f(x: int) -> int:\n    a = []\n    while True:\n        a.append([0] * 1000000)\n"),
    ("many large lists when the module is loaded", "a = []\nwhile True:\n    a.append([0] * 1000000)\ndef f(x: int) -> int: return x\n"),
    ("many large texts", "def f(x: int) -> int:\n    d = {}\n    i = 0\n    while True:\n        d[i] = str(i) * 100000\n        i += 1\n"),
    ("a comprehension of lists", "def f(x: int) -> int:\n    return len([[0] * 100000 for i in range(1000000)])\n"),
    ("the elements of a counter", "from collections import Counter\ndef f(x: int) -> int:\n    return len(list(Counter({1: 10 ** 9}).elements()))\n"),
    ("a slice put into itself", "def f(x: int) -> int:\n    a = [0]\n    while True:\n        a[0:0] = a\n"),
    ("a class that keeps everything", "class A:\n    kept = []\n    def __init__(self): A.kept.append([self] * 100000)\ndef f(x: int) -> int:\n    while True:\n        A()\n"),
    ("values that share parts", "def f(x: int) -> bool:\n    a, b = [0], [0]\n    for _ in range(60):\n        a, b = [a, a], [b, b]\n    return a == b\n"),
]
QUICK = "def f(x: int) -> int:\n    return 1 // x\n"
SLOW = "def f(x: int) -> int:\n    while x == x:\n        x += 1\n    return x\n"
SECONDS = 10
# Megabytes. An engine exits when it is 50 % above its limit of 1,024. The server keeps no data of an analysis.
MOST_OF_ENGINE, MOST_OF_SERVER = 2000, 250


def descendants(pid):
    """Processes below this one, with their command lines."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                pass
    found, wave = [], [pid]
    while wave:
        wave = [child for child, parent in parents.items() if parent in wave]
        found += wave
    return found


def engines(server):
    def is_engine(pid):
        try:
            return b"\0__analyse\0" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False

    return [pid for pid in descendants(server.process.pid) if is_engine(pid)]


def resident(pid):
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) // 1024
    except (OSError, IndexError):
        return 0


class Peaks:
    """The peak memory of the server and its engines."""

    def __init__(self, server):
        self.server, self.of_server, self.of_engine, self.is_over = server, 0, 0, threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def watch(self):
        while not self.is_over.wait(0.05):
            self.of_server = max(self.of_server, resident(self.server.process.pid))
            self.of_engine = max([self.of_engine, *map(resident, engines(self.server))])

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()


def checks(suite):
    with suite.server() as server:
        server.call("symbolic_check", code=QUICK, function_name="f")
        for name, code in GREEDY:
            suite.check(f"memory: {name}", lambda c=code: greedy(server, c))
        suite.check("memory: an engine that is killed costs no call", lambda: killed(server))
        suite.check("memory: one that is killed while it waits costs no call", lambda: killed_while_idle(server))
    suite.check("memory: a limit of its own", lambda: limited(suite))


def greedy(server, code):
    with Peaks(server) as peaks:
        began = time.monotonic()
        greedy = server.begin("symbolic_check", code=code, function_name="f", timeout_seconds=SECONDS)
        beside = server.call("symbolic_check", code=QUICK, function_name="f")["result"]["structuredContent"]
        content = server.answer(greedy)["result"]["structuredContent"]
        took = time.monotonic() - began
    assert beside["status"] == "counterexample", beside
    assert content["status"] in ("timeout", "error") and content["error_type"] == "TimeoutError", content
    assert took < SECONDS + 10, f"{took:.1f} s for a limit of {SECONDS}"
    assert peaks.of_engine < MOST_OF_ENGINE, f"an engine held {peaks.of_engine} MB"
    assert peaks.of_server < MOST_OF_SERVER, f"the server held {peaks.of_server} MB"


def limited(suite):
    with suite.server("--memory-mb", "128") as server:
        content = server.call("symbolic_check", code=GREEDY[6][1], function_name="f", timeout_seconds=60)["result"]
        assert content["structuredContent"]["status"] == "timeout", content
        assert content["structuredContent"]["message"] == "Analysis needed more than 128 MB of memory", content
        assert content["_meta"]["dev.failwell/fault"]["reason"] == "symbolic/MEMORY", content


def killed(server):
    number = server.begin("symbolic_check", code=SLOW, function_name="f", timeout_seconds=6)
    until = time.monotonic() + 20
    busy = []
    while not busy and time.monotonic() < until:
        busy = [pid for pid in engines(server) if is_running(pid)]
    assert busy, "no engine was at work"
    for pid in busy:
        os.kill(pid, signal.SIGKILL)
    content = server.answer(number)["result"]["structuredContent"]
    assert content["status"] == "timeout" and content["error_type"] == "TimeoutError", content


def killed_while_idle(server):
    for pid in engines(server):
        os.kill(pid, signal.SIGKILL)
    for _ in range(3):
        content = server.call("symbolic_check", code=QUICK, function_name="f")["result"]["structuredContent"]
        assert content["status"] == "counterexample", content


def is_running(pid):
    """Whether it used CPU time recently."""
    def spent():
        try:
            return sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
        except OSError:
            return 0

    before = spent()
    time.sleep(0.2)
    return spent() - before > 3
