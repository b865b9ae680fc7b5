"""The program as an operator runs it: `failwell up` with a file, in a folder of its own."""

import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
START_LIMIT = 60  # seconds
ANSWER_LIMIT = 120


def upstream(name, *options, **settings):
    """The lines of the file that put `upstream.py` behind the gateway."""
    command = [sys.executable, str(HERE / "upstream.py"), *map(str, options)]
    lines = ["[[upstream]]", f"name = {json.dumps(name)}", f"command = {json.dumps(command)}"]
    return "\n".join(lines + [f"{key} = {json.dumps(value)}" for key, value in settings.items()]) + "\n"


class Program:
    def __init__(self, binary, folder, settings):
        self.folder = folder
        folder.mkdir(parents=True)
        (folder / "tmp").mkdir()
        (folder / "failwell.toml").write_text(settings)
        environment = {name: value for name, value in os.environ.items() if name != "FAILWELL_KEY"}
        environment["FAILWELL_STATE"] = str(folder / "state")
        self.binary, self.environment = binary, environment
        self.log = open(folder / "log", "w+b")
        self.process = subprocess.Popen(
            [binary, "up", "--listen", "127.0.0.1:0"],
            cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True,
        )
        self.address, shown = None, threading.Event()

        def read():
            for line in self.process.stdout:
                found = re.search(r"is up on (http://\S+)", line)
                if found:
                    self.address = found[1].rstrip("/")
                    shown.set()
            shown.set()

        threading.Thread(target=read, daemon=True).start()
        shown.wait(START_LIMIT)
        assert self.address, "the program did not start: " + (folder / "log").read_text()[:2000]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("the program did not end when it was asked to") from None
        finally:
            self.log.close()

    def send(self, path, body, headers=(), limit=ANSWER_LIMIT):
        """Status and JSON body of a POST."""
        request = urllib.request.Request(self.address + path, json.dumps(body).encode(), {"Content-Type": "application/json", **dict(headers)})
        try:
            with urllib.request.urlopen(request, timeout=limit) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as refusal:
            return refusal.code, json.loads(refusal.read() or b"null")

    def tool(self, name, **arguments):
        """Status and body of a tool over REST."""
        return self.send(f"/v1/tools/{name}", arguments)

    def rpc(self, method, params):
        return self.send("/rpc", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})[1]

    def mcp(self, method, params):
        """The answer to one request of the modern era."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "promises", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
        if "name" in params:
            headers["Mcp-Name"] = params["name"]
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        return self.send("/mcp", body, headers)[1]

    def records(self):
        """What the ledger has, oldest first."""
        command = [self.binary, "audit", "query", "--json"]
        told = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=60)
        assert told.returncode == 0, told.stderr
        return json.loads(told.stdout) if told.stdout.lstrip().startswith("[") else [json.loads(line) for line in told.stdout.splitlines()]
