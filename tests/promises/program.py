"""The program as an operator runs it: `failwell up` with a file, in a folder of its own."""

import hashlib
import json
import os
import pathlib
import queue
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

SERVERS = pathlib.Path(__file__).resolve().parent / "servers"
START_LIMIT = 60  # seconds
ANSWER_LIMIT = 120


def upstream(name, *options, **settings):
    """The lines of the file that put `upstream.py` behind the gateway."""
    command = [sys.executable, str(SERVERS / "upstream.py"), *map(str, options)]
    lines = ["[[upstream]]", f"name = {json.dumps(name)}", f"command = {json.dumps(command)}"]
    return "\n".join(lines + [f"{key} = {json.dumps(value)}" for key, value in settings.items()]) + "\n"


class KEYS:
    """Two callers, and the lines of the file for them."""

    ann, bob = ("fw_" + letter * 40 for letter in "ab")
    file = ""


for _name in ("ann", "bob"):
    _hash = hashlib.sha256(getattr(KEYS, _name).encode()).hexdigest()
    KEYS.file += f'[[key]]\nname = "{_name}"\nhash = "sha256:{_hash}"\n'

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "promises", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def modern_headers(method, name=None):
    """The headers of a request of the modern era."""
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    return {**headers, "Mcp-Name": name} if name else headers


def scripted(folder, name, script=None, **settings):
    """The lines that put `scripted.py` with this script behind the gateway. Its requests are in `asked(folder, name)`."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.json"
    file.write_text(json.dumps(script or {}))
    command = [sys.executable, str(SERVERS / "scripted.py"), str(file)]
    lines = ["", "[[upstream]]", f"name = {json.dumps(name)}", f"command = {json.dumps(command)}"]
    return "\n".join(lines + [f"{key} = {json.dumps(value)}" for key, value in settings.items()]) + "\n"


def asked(folder, name):
    """The requests and notifications that a scripted server got, oldest first."""
    file = folder / f"{name}.json.asked"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def until(what, look, limit=20):
    """Looks until there is something, and returns it; fails with `what` when there never is."""
    end = time.monotonic() + limit
    while not (found := look()):
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.05)
    return found


class Program:
    def __init__(self, binary, folder, settings, *options, **variables):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tmp").mkdir()
        (folder / "failwell.toml").write_text(settings)
        environment = {name: value for name, value in os.environ.items() if name != "FAILWELL_KEY"}
        environment |= {"FAILWELL_STATE": str(folder / "state"), **variables}
        self.binary, self.environment = binary, environment
        self.log = open(folder / "log", "w+b")
        self.process = subprocess.Popen(
            [binary, "up", "--listen", "127.0.0.1:0", *options],
            cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True,
        )
        self.address, self.started, self.screen, shown = None, None, [], threading.Event()

        def read():
            for line in self.process.stdout:
                self.screen.append(line)
                if not self.started:
                    self.started = json.loads(line)
                    self.address = self.started["address"]
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

    def stopped(self):
        """How many requests finished, were ended, and could not be answered, as its last line says."""
        told = json.loads(self.screen[-1])
        assert told.pop("event") == "stopped", self.screen
        return told["finished"], told["ended"], told["undelivered"]

    def logged(self, *texts):
        """The log, once it has these texts: it is written beside the answers."""
        until = time.monotonic() + 10
        while True:
            log = (self.folder / "log").read_text()
            missing = [text for text in texts if text not in log]
            if not missing:
                return log
            assert time.monotonic() < until, (missing, log)
            time.sleep(0.05)

    def send(self, path, body, headers=(), limit=ANSWER_LIMIT):
        """Status and JSON body of a POST."""
        request = urllib.request.Request(self.address + path, json.dumps(body).encode(), {"Content-Type": "application/json", **dict(headers)})
        try:
            with urllib.request.urlopen(request, timeout=limit) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as refusal:
            return refusal.code, json.loads(refusal.read() or b"null")

    def upload(self, name, content, kind="notes", headers=()):
        """Status and JSON body of an upload."""
        parts = [("type", "", kind.encode()), ("file", f'; filename="{name}"', content)]
        body = b"".join(
            f'--part\r\nContent-Disposition: form-data; name="{field}"{more}\r\n\r\n'.encode() + value + b"\r\n" for field, more, value in parts
        )
        return self.ask("POST", "/v1/resources", body + b"--part--\r\n", {"Content-Type": "multipart/form-data; boundary=part", **dict(headers)})

    def ask(self, verb, path, body=None, headers=(), limit=ANSWER_LIMIT):
        """Status and JSON body of any request; the body is text where it is no JSON."""
        request = urllib.request.Request(self.address + path, body, dict(headers), method=verb)
        try:
            with urllib.request.urlopen(request, timeout=limit) as answer:
                status, told = answer.status, answer.read()
        except urllib.error.HTTPError as refusal:
            status, told = refusal.code, refusal.read()
        try:
            return status, json.loads(told or b"null")
        except ValueError:
            return status, told

    def run(self, *arguments):
        """Exit code and output of a command about the same state."""
        told = subprocess.run([self.binary, *map(str, arguments)], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=60)
        return told.returncode, told.stdout + told.stderr

    def tool(self, name, /, **arguments):
        """Status and body of a tool over REST."""
        return self.send(f"/v1/tools/{name}", arguments)

    def rpc(self, method, params):
        return self.send("/rpc", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})[1]

    def mcp(self, method, params):
        """The answer to one request of the modern era."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": META, **params}}
        return self.send("/mcp", body, modern_headers(method, params.get("name") or params.get("uri") or params.get("taskId")))[1]

    def metric(self, name, headers=()):
        """A number of `/metrics`."""
        return float(re.search(rf"^{name} (\S+)", self.ask("GET", "/metrics", headers=headers)[1].decode(), re.M)[1])

    def records(self):
        """What the ledger has, oldest first."""
        return ledger(self)


def ledger(program):
    """The records of a program, oldest first."""
    command = [program.binary, "audit", "query", "--json"]
    told = subprocess.run(command, cwd=program.folder, env=program.environment, capture_output=True, text=True, timeout=60)
    assert told.returncode == 0, told.stderr
    return json.loads(told.stdout) if told.stdout.lstrip().startswith("[") else [json.loads(line) for line in told.stdout.splitlines()]


class Stdio:
    """`failwell stdio` with a file, in a folder of its own."""

    def __init__(self, binary, folder, settings, *options, listening=True):
        folder.mkdir(parents=True)
        (folder / "failwell.toml").write_text(settings)
        environment = {name: value for name, value in os.environ.items() if name != "FAILWELL_KEY"}
        environment["FAILWELL_STATE"] = str(folder / "state")
        self.binary, self.folder, self.environment = binary, folder, environment
        with open(folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                [binary, "stdio", *options], cwd=folder, env=environment,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
            )
        self.heard = queue.Queue()
        if listening:
            threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            self.heard.put(json.loads(line))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def write(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def send(self, **message):
        self.write(json.dumps({"jsonrpc": "2.0", **message}))

    def hear(self, limit):
        """The next message."""
        return self.heard.get(timeout=limit)

    def begin(self):
        """The handshake of the session era."""
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "promises", "version": "1"}}
        self.send(id=0, method="initialize", params=params)
        assert self.hear(START_LIMIT)["id"] == 0
        self.send(method="notifications/initialized")

    def log(self):
        return (self.folder / "log").read_text()


class Tasks(Program):
    """The tasks server with an emulated account that is logged in."""

    def __init__(self, binary, folder, *options, more=""):
        self.emulator = subprocess.Popen(
            [binary, "emulate", "rtm", "--seed", "empty", "--no-rate-limit"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )
        try:
            lines = iter(self.emulator.stdout.readline, "")
            told = re.search(r"http://\S+", next(lines))
            self.service = told[0]
            settings = (
                f'servers = ["tasks"]\n{more}\n[tasks]\nbase_url = "{self.service}"\napi_key = "emulated0key0for0tests0and0demos"\n'
                'shared_secret = "emulated0secret0"\ntoken_store = "file"\n'
            )
            super().__init__(binary, folder, settings, *options)
        except BaseException:
            self.emulator.kill()
            raise

    def log_in(self):
        _, begun = self.tool("rtm_authenticate")
        frob = re.search(r"frob=([^&]+)", begun["url"])[1]
        self.control("approve", {"frob": frob, "perms": "delete"})
        assert self.tool("rtm_authenticate")[1]["authenticated"], "not logged in"
        return self

    def control(self, what, body=None):
        """Tells the emulator what to do, or asks it."""
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(f"{self.service}/_control/{what}", data), timeout=30) as answer:
            return json.loads(answer.read())

    def count(self, name):
        """The number of tasks with this name in the account."""
        series = [series for series in self.control("dump")["taskseries"] if series["name"] == name]
        return sum(1 for one in series for task in one["tasks"] if task["deleted"] is None)

    def __exit__(self, *problem):
        try:
            super().__exit__(*problem)
        finally:
            self.emulator.kill()
            self.emulator.wait()
