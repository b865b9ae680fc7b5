"""A Failwell node with a configuration, and requests to it."""

import atexit
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

PATIENCE = 60  # seconds; a loaded machine needs some
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def until(what, look, patience=PATIENCE):
    """Polls until there is a result. Fails with `what` after the time limit."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"never: {what}")


class Node:
    def __init__(self, binary, config, folder=None, name="failwell.toml", environment=None):
        self.binary = binary
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="failwell-telemetry-"))
        # A node may be started again in its folder, so the folder is removed at the end.
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        self.config = self.folder / name
        self.config.write_text(config)
        self.environment = os.environ | {"FAILWELL_STATE": str(self.folder / "state")} | (environment or {})
        self.lines, self.process, self.url = [], None, None

    def up(self):
        self.process = subprocess.Popen(
            [self.binary, "up", "--listen", "127.0.0.1:0", "--config", self.config],
            cwd=self.folder, env=self.environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        threading.Thread(target=self.read, args=(self.process.stderr,), daemon=True).start()
        line = self.process.stdout.readline()
        assert line, "it did not start: " + "".join(self.lines)
        self.url = json.loads(line)["address"]
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        return self

    def read(self, stream):
        for line in stream:
            self.lines.append(line)

    def output(self):
        return "".join(self.lines)

    def stop(self, how=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                raise AssertionError("it does not stop: " + self.output()) from None
        self.url = None

    def send(self, path, body, headers=None):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), method="POST")
        for name, value in ({"content-type": "application/json", "accept": "application/json, text/event-stream"} | (headers or {})).items():
            request.add_header(name, value)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, dict(answer.headers), answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, dict(error.headers), error.read().decode()

    def modern(self, method, params, meta=None, headers=None):
        params = params | {"_meta": META | (meta or {})}
        sent = {"mcp-protocol-version": "2026-07-28", "mcp-method": method} | (headers or {})
        name = params.get("name") or params.get("uri")
        if name:
            sent["mcp-name"] = name
        return self.send("/mcp", {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}, sent)

    def call(self, tool, arguments=None, meta=None, headers=None):
        status, _, body = self.modern("tools/call", {"name": tool, "arguments": arguments or {}}, meta, headers)
        return status, json.loads(body)

    def metrics(self):
        with urllib.request.urlopen(self.url + "/metrics", timeout=PATIENCE) as answer:
            text = answer.read().decode()
        pairs = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        return {name: float(value) for name, value in pairs}

    def run(self, *arguments, ok=True):
        """Runs a `failwell` command in this node's folder."""
        done = subprocess.run(
            [self.binary, *arguments], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )
        assert not ok or done.returncode == 0, (arguments, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
        return done

    def records(self, *arguments):
        return [json.loads(line) for line in self.run("audit", "query", "--json", *arguments).stdout.splitlines()]


@contextlib.contextmanager
def nodes(*all_of):
    try:
        yield [node.up() for node in all_of]
    finally:
        for node in all_of:
            with contextlib.suppress(AssertionError):
                node.stop()
