"""A client of `failwell serve pytest` over stdio: one line out, one line in."""

import hashlib
import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))

from stdio_client import Client  # noqa: E402


class Server(Client):
    def __init__(self, binary, project, *arguments, env=None):
        super().__init__([binary, "serve", "pytest", "--project", project, *arguments], env)

    def run(self, **arguments):
        return Outcome(self.call("execute_tests", **arguments))

    def warm(self, **arguments):
        """Runs once a warm worker is ready."""
        until = time.monotonic() + 120
        while time.monotonic() < until:
            outcome = self.run(**arguments)
            if outcome.mode == "warm":
                return outcome
            time.sleep(0.1)
        raise AssertionError("no warm worker came up")

    def until_it_runs(self, test):
        """Waits until a progress notification names a test."""
        until, lines = time.monotonic() + 60, []
        while time.monotonic() < until:
            message = self.hear(1)
            if message is None:
                continue
            if test in str(message.get("params")):
                return
            lines.append(str(message)[:500])
            assert "id" not in message, f"{test} did not start, but: {lines}"
        raise AssertionError(f"{test} did not start: {lines}")


class Outcome:
    """A result of execute_tests or discover_tests, successful or failed."""

    def __init__(self, answer):
        self.answer = answer
        self.result = answer.get("result", {})
        self.structured = self.result.get("structuredContent", {})
        self.failed = self.result.get("isError", False)
        self.fault = self.result.get("_meta", {}).get("dev.failwell/fault", {})
        self.reason = self.fault.get("reason")
        self.data = self.structured.get("data", {}) if self.failed else {}
        self.partial = self.data.get("partial", {})
        self.mode = (self.data if self.failed else self.structured).get("mode")
        self.size = len(json.dumps(answer, ensure_ascii=False))

    def counts(self):
        summary = (self.partial if self.failed else self.structured)["summary"]
        return tuple(summary[name] for name in ("passed", "failed", "skipped", "errors"))

    def __str__(self):
        return json.dumps(self.answer, indent=1)[:4000]


def digest(folder):
    """Every file of a folder with its content, for comparison."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path.relative_to(folder))] = hashlib.sha256(content).hexdigest()
    return found


def processes_with(mark):
    """Processes with a marker in their environment."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if mark.encode() in (entry / "environ").read_bytes():
                    found.append((entry.name, (entry / "cmdline").read_bytes()[:80]))
            except OSError:
                pass
    return found
