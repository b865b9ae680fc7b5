"""A client of a tool server over stdio: one line out, one line in."""

import json
import os
import select
import subprocess
import time

ANSWER_LIMIT = 120  # seconds


class Client:
    def __init__(self, command, env=None):
        self.process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env, bufsize=0,
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
            self.process.wait(60)
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
        """One message; `None` after the time limit."""
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

    def until_progress(self, limit=ANSWER_LIMIT):
        """Waits until the server reports progress of a call."""
        end = time.monotonic() + limit
        while True:
            message = self.hear(max(0, end - time.monotonic()))
            assert message is not None, f"no progress within {limit} seconds"
            self.notices.append((time.monotonic(), message))
            if message.get("method") == "notifications/progress":
                return

    def ask(self, method, params):
        return self.answer(self.start(method, params))

    def begin(self, tool, **arguments):
        return self.start("tools/call", {"name": tool, "arguments": arguments, "_meta": {"progressToken": "p"}})

    def call(self, tool, **arguments):
        return self.answer(self.begin(tool, **arguments))
