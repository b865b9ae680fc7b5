"""A client of `failwell serve pytest` over stdio: one line out, one line in."""

import hashlib
import json
import os
import pathlib
import select
import subprocess
import time

ANSWER_LIMIT = 120  # seconds


class Server:
    def __init__(self, binary, project, *arguments, env=None):
        command = [str(binary), "serve", "pytest", "--project", str(project), *map(str, arguments)]
        self.log = bytearray()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env, bufsize=0
        )
        self.rest, self.last, self.notices, self.answers = b"", 0, [], {}
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "suite", "version": "1"}}
        self.ask("initialize", hello)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("the server did not end when its client hung up") from None
        finally:
            self.process.stdout.close()

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    def start(self, method, params):
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return self.last

    def hear(self, limit):
        """One message, or nothing within the limit."""
        until = time.monotonic() + limit
        while b"\n" not in self.rest:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return None
            part = os.read(self.process.stdout.fileno(), 1 << 20)
            assert part, "the server hung up"
            self.rest += part
        line, _, self.rest = self.rest.partition(b"\n")
        return json.loads(line)

    def answer(self, number, limit=ANSWER_LIMIT):
        while number not in self.answers:
            message = self.hear(limit)
            assert message is not None, f"no answer within {limit} seconds"
            if "id" in message and "method" not in message:
                assert message["id"] not in self.answers, "two answers to one request"
                self.answers[message["id"]] = message
            else:
                self.notices.append((time.monotonic(), message))
        return self.answers.pop(number)

    def ask(self, method, params):
        return self.answer(self.start(method, params))

    def begin(self, tool, **arguments):
        return self.start("tools/call", {"name": tool, "arguments": arguments, "_meta": {"progressToken": "p"}})

    def call(self, tool, **arguments):
        return self.answer(self.begin(tool, **arguments))

    def run(self, **arguments):
        return Outcome(self.call("execute_tests", **arguments))

    def warm(self, **arguments):
        """Runs once a warm worker is ready."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            outcome = self.run(**arguments)
            if outcome.mode == "warm":
                return outcome
            time.sleep(0.3)
        raise AssertionError("no warm worker came up")


class Outcome:
    """An answer of execute_tests or discover_tests, whichever way it went."""

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
    """Every file of a folder with its content: what must not change."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path.relative_to(folder))] = hashlib.sha256(content).hexdigest()
    return found


def processes_with(mark):
    """Processes that inherited a mark in their environment."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if mark.encode() in (entry / "environ").read_bytes():
                    found.append((entry.name, (entry / "cmdline").read_bytes()[:80]))
            except OSError:
                pass
    return found
