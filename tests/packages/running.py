"""An installed program that serves: started with an environment of its own, called over MCP, and stopped."""

import json
import queue
import re
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request

START_LIMIT = 60  # seconds
ANSWER_LIMIT = 60
STOP_LIMIT = 30
VERSION = "2025-11-25"


class McpClient:
    """The few requests of a session that a test needs."""

    def __init__(self, address, key=None):
        self.address = address
        self.headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if key:
            self.headers["X-API-Key"] = key
        params = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "packages", "version": "1"}}
        self.request("initialize", params)
        self.headers["MCP-Protocol-Version"] = VERSION
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def post(self, body):
        request = urllib.request.Request(f"{self.address}/mcp", json.dumps(body).encode(), self.headers)
        with urllib.request.urlopen(request, timeout=ANSWER_LIMIT) as answer:
            if session := answer.headers.get("Mcp-Session-Id"):
                self.headers["Mcp-Session-Id"] = session
            return answer.read().decode()

    def request(self, method, params):
        text = self.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        if not text.startswith("{"):
            text = [line[5:] for line in text.splitlines() if line.startswith("data:") and '"id"' in line][-1]
        answer = json.loads(text)
        assert "result" in answer, answer
        return answer["result"]

    def call(self, ending, **arguments):
        """The text of a tool whose name ends so. A server that is still starting lists its tools later."""
        end = time.monotonic() + START_LIMIT
        while True:
            names = [tool["name"] for tool in self.request("tools/list", {})["tools"]]
            found = [name for name in names if name.endswith(ending)]
            if found:
                break
            assert time.monotonic() < end, f"no tool ends with {ending}: {names}"
            time.sleep(0.1)
        result = self.request("tools/call", {"name": found[0], "arguments": arguments})
        assert not result.get("isError"), result
        return result["content"][0]["text"]


class ServedProgram:
    def __init__(self, command, folder, environment, preexec=None):
        self.key = environment.get("FAILWELL_KEY")
        self.process = subprocess.Popen(
            [str(word) for word in command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=preexec,
        )  # fmt: skip
        self.lines, self.log = queue.Queue(), []
        threading.Thread(target=self.read, daemon=True).start()
        self.reader = threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put("")

    def __enter__(self):
        try:
            self.address = self.shown()
        except BaseException:
            self.process.kill()
            raise
        return self

    def shown(self):
        """The address that the first screen names."""
        end = time.monotonic() + START_LIMIT
        while line := self.lines.get(timeout=max(end - time.monotonic(), 0.01)):
            if found := re.search(r"http://[0-9.]+:[0-9]+", line):
                return found[0].replace("0.0.0.0", "127.0.0.1")
        self.process.wait(STOP_LIMIT)
        self.reader.join(STOP_LIMIT)
        raise AssertionError(f"it ended with {self.process.returncode} before it served: {''.join(self.log)[:2000]}")

    def echo(self, text):
        answer = McpClient(self.address, self.key).call("echo", text=text)
        assert text in answer, answer

    def __exit__(self, kind, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"it did not end within {STOP_LIMIT} s of SIGTERM") from None
        if kind is None:
            assert self.process.returncode == 0, f"SIGTERM ended it with {self.process.returncode}: {''.join(self.log)[:2000]}"
