"""The program as an operator runs it: `failwell up` with a file, in a folder of its own."""

import contextlib
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

from nodes import CLUSTER, RoundRobin

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
    """Polls until there is a result, and returns it. Fails with `what` after the time limit."""
    end = time.monotonic() + limit
    while not (found := look()):
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.05)
    return found


class Node:
    """One process. The first node of a folder has its state in `state` and its log in `log`."""

    def __init__(self, binary, folder, options, variables, number=1):
        self.folder, self.binary = folder, binary
        mark = "" if number == 1 else f"-{number}"
        (folder / f"tmp{mark}").mkdir()
        environment = {name: value for name, value in os.environ.items() if name != "FAILWELL_KEY"}
        self.environment = environment | {"FAILWELL_STATE": str(folder / f"state{mark}"), **variables}
        self.log = open(folder / f"log{mark}", "w+b")
        self.process = subprocess.Popen(
            [binary, "up", "--listen", "127.0.0.1:0", *options],
            cwd=folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True,
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
        assert self.address, "the program did not start: " + self.log_text()[:2000]

    def log_text(self):
        return pathlib.Path(self.log.name).read_text()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError("the program did not end when it was asked to") from None
        finally:
            self.log.close()


class Program:
    """`failwell up` with a file, in a folder of its own: one node, or as many as `run --nodes` says behind one address."""

    def __init__(self, binary, folder, settings, *options, nodes=None, shares=None, **variables):
        """With `shares`, programs of several folders are nodes of one cluster."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "failwell.toml").write_text(CLUSTER.state(shares or folder) + settings)
        self.nodes, self.proxy = [], None
        try:
            for number in range(1, (nodes or CLUSTER.size) + 1):
                self.nodes.append(Node(binary, folder, options, variables, number))
            if len(self.nodes) > 1:
                self.proxy = RoundRobin(*(node.address for node in self.nodes))
        except BaseException:
            self.end()
            raise
        first = self.nodes[0]
        self.binary, self.folder, self.environment = binary, folder, first.environment
        self.process, self.log, self.screen, self.started = first.process, first.log, first.screen, first.started
        self.address = self.proxy.address if self.proxy else first.address

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        if self.proxy:
            self.proxy.stop()
        with contextlib.ExitStack() as stack:
            for node in self.nodes:
                stack.callback(node.stop)

    def stopped(self):
        """How many requests finished, were ended, and could not be answered, as its last line says."""
        # The line is read by a thread.
        line = until("the last line", lambda: next((line for line in self.screen if '"stopped"' in line), None))
        found = json.loads(line)
        return found["finished"], found["ended"], found["undelivered"]

    def logged(self, *texts):
        """The log, once it has these texts: it is written concurrently with the responses."""
        until = time.monotonic() + 10
        while True:
            log = "".join(node.log_text() for node in self.nodes)
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
        return fetch(self.address, verb, path, body, headers, limit)

    def run(self, *arguments, node=None):
        """Exit code and output of a command about the same state, on the machine of the first node or of this one."""
        environment = (node or self).environment
        done = subprocess.run([self.binary, *map(str, arguments)], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr

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
        """A number of `/metrics`, of all nodes together: each counts its own."""
        def of(node):
            metrics = fetch(node.address, "GET", "/metrics", None, headers)[1].decode()
            return float(re.search(rf"^{name} (\S+)", metrics, re.M)[1])
        return sum(of(node) for node in self.nodes)

    def records(self):
        """What the ledgers of the nodes have, oldest first."""
        return sorted((record for node in self.nodes for record in ledger(node)), key=lambda record: record["timestamp"])


def fetch(address, verb, path, body=None, headers=(), limit=ANSWER_LIMIT):
    """Status and JSON body of a request to an address; the body is text where it is no JSON."""
    request = urllib.request.Request(address + path, body, dict(headers), method=verb)
    try:
        with urllib.request.urlopen(request, timeout=limit) as answer:
            status, content = answer.status, answer.read()
    except urllib.error.HTTPError as refusal:
        status, content = refusal.code, refusal.read()
    try:
        return status, json.loads(content or b"null")
    except ValueError:
        return status, content


def ledger(program):
    """The records of one node, oldest first."""
    command = [program.binary, "audit", "query", "--json"]
    done = subprocess.run(command, cwd=program.folder, env=program.environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) if done.stdout.lstrip().startswith("[") else [json.loads(line) for line in done.stdout.splitlines()]


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
        self.messages = queue.Queue()
        if listening:
            threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            self.messages.put(json.loads(line))

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
        return self.messages.get(timeout=limit)

    def begin(self, version="2025-11-25"):
        """The handshake of the session era."""
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "promises", "version": "1"}}
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
            address = re.search(r"http://\S+", next(lines))
            self.service = address[0]
            settings = (
                f'servers = ["tasks"]\n{more}\n[tasks]\nbase_url = "{self.service}"\napi_key = "emulated0key0for0tests0and0demos"\n'
                'shared_secret = "emulated0secret0"\ntoken_store = "file"\n'
            )
            super().__init__(binary, folder, settings, *options)
        except BaseException:
            self.emulator.kill()
            raise

    def log_in(self):
        """Each node has a token of its own."""
        for node in self.nodes:
            def authenticate():
                return fetch(node.address, "POST", "/v1/tools/rtm_authenticate", b"{}", {"Content-Type": "application/json"})[1]
            frob = re.search(r"frob=([^&]+)", authenticate()["url"])[1]
            self.control("approve", {"frob": frob, "perms": "delete"})
            assert authenticate()["authenticated"], "not logged in"
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
