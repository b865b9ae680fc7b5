"""Processes of a test: starts, counts and ends them."""

import contextlib
import ctypes
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

from ports import free_port

START_LIMIT, STOP_LIMIT, GONE_LIMIT = 120, 30, 60  # seconds
PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans():
    """Adopts orphaned processes, so that none is left running unnoticed."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.exit("error: this system cannot tell what is left running")


def parents():
    """The parent and name of every process, except zombies."""
    found = {}
    for place in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            head, _, rest = place.read_text().rpartition(")")
            state, parent = rest.split()[:2]
            if state not in "ZX":
                found[int(place.parent.name)] = (int(parent), head.split("(", 1)[1])
    return found


def below(root):
    """All descendants of a process: id and name."""
    everyone, found = parents(), {}
    grown = True
    while grown:
        grown = False
        for number, (parent, name) in everyone.items():
            if number not in found and (parent == root or parent in found):
                found[number] = name
                grown = True
    return found


def left_over():
    """The processes of this test that still run after a while."""
    deadline = time.monotonic() + GONE_LIMIT
    while True:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        left = below(os.getpid())
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.1)


def end(process):
    """Ends a process group: SIGTERM, then SIGKILL."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_LIMIT)
            break


class Emulator:
    """The emulated phone."""

    def __init__(self, base, process):
        self.base, self.process = base, process

    def ask(self, method, path, body=None):
        data = None if body is None else body.encode()
        request = urllib.request.Request(f"{self.base}/_control/{path}", data, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def fail(self, kind, **more):
        self.ask("POST", "fail", json.dumps({"kind": kind, **more}))

    def reset(self):
        self.ask("POST", "reset", "")

    def dump(self):
        return self.ask("GET", "dump")

    def calls(self):
        return [(call["command"], call["outcome"]) for call in self.ask("GET", "calls")["calls"]]


@contextlib.contextmanager
def emulating(binary):
    process = subprocess.Popen(
        [binary, "emulate", "wda"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, start_new_session=True,
    )
    watch = threading.Timer(START_LIMIT, process.kill)
    watch.start()
    try:
        output = ""
        while "stop with Ctrl-C" not in output:
            line = process.stdout.readline()
            assert line, f"the emulator did not start: {output}"
            output += line
        watch.cancel()
        yield Emulator(re.search(r"is up on (http://\S+)", output).group(1), process)
    finally:
        watch.cancel()
        end(process)
        process.stdout.close()


def appium_command():
    home = pathlib.Path(os.environ["FAILWELL_APPIUM"])
    return home, ["node", str(home / "node_modules/appium/index.js")]


@contextlib.contextmanager
def appium():
    """A real Appium with both drivers, and its address."""
    home, command = appium_command()
    port = free_port()
    arguments = ["server", "--address", "127.0.0.1", "--port", str(port), "--use-drivers=fake,xcuitest", "--log-level", "error:error"]
    process = subprocess.Popen(
        [*command, *arguments], env={**os.environ, "APPIUM_HOME": str(home)}, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for(f"{url}/status", process)
        yield url
    finally:
        end(process)


def wait_for(url, process):
    deadline = time.monotonic() + START_LIMIT
    while True:
        try:
            urllib.request.urlopen(url, timeout=10).close()
            return
        except (OSError, urllib.error.HTTPError):
            assert process.poll() is None and time.monotonic() < deadline, f"nobody answers at {url}"
            time.sleep(0.1)
