"""Several nodes behave as one: approvals, pins, keys and sessions are the same on each."""

import concurrent.futures
import contextlib
import hashlib
import http.client
import http.server
import itertools
import json
import re
import shutil
import socket
import subprocess
import threading
import time

from program import Program, scripted

ALICE, BOSS = "fw_alice_0123456789abcdef", "fw_boss_0123456789abcdef0"
KEYS = "".join(
    f'\n[[key]]\nname = "{name}"\nhash = "sha256:{hashlib.sha256(key.encode()).hexdigest()}"\nroles = {json.dumps(roles)}\n'
    for name, key, roles in (("alice", ALICE, []), ("boss", BOSS, ["admin"])))


@contextlib.contextmanager
def redis():
    """The line of the file for a real Redis on a port of its own."""
    assert shutil.which("redis-server"), "install redis-server, as `./x test` does"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    server = subprocess.Popen(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
                              stdout=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert time.monotonic() < until, "redis-server does not start"
                time.sleep(0.05)
        yield f'state = "redis://127.0.0.1:{port}"\nservers = []\n'
    finally:
        server.kill()
        server.wait()


class RoundRobin(http.server.ThreadingHTTPServer):
    """A plain proxy: each request goes to the next node. Nodes that do not answer are skipped."""

    daemon_threads = True

    def __init__(self, *nodes):
        super().__init__(("127.0.0.1", 0), Forward)
        self.turns = itertools.cycle([node.address.removeprefix("http://") for node in nodes])
        self.count, self.lock = len(nodes), threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def next_node(self):
        with self.lock:
            return next(self.turns)


class Forward(http.server.BaseHTTPRequestHandler):
    def forward(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        for _ in range(self.server.count):
            node = self.server.next_node()
            try:
                onward = http.client.HTTPConnection(node, timeout=60)
                headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
                onward.request(self.command, self.path, body or None, headers)
                answer = onward.getresponse()
                content = answer.read()
            except OSError:
                continue
            self.send_response(answer.status)
            for name in ("Content-Type", "Mcp-Session-Id"):
                if answer.headers.get(name):
                    self.send_header(name, answer.headers[name])
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            return
        self.send_error(502)

    do_GET = do_POST = do_DELETE = forward

    def log_message(self, *_):
        pass


def ask(address, path, key, body=None, **headers):
    connection = http.client.HTTPConnection(address, timeout=60)
    head = {"X-API-Key": key, **{name.replace("_", "-"): value for name, value in headers.items()}}
    if body is not None:
        head["Content-Type"] = "application/json"
    connection.request("GET" if body is None else "POST", path, None if body is None else json.dumps(body), head)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read() or b"null"), answer.headers


@contextlib.contextmanager
def nodes(binary, home, settings, servers=(None, None)):
    """Two nodes with the same file, each with a server of its own, and the address of the proxy before them."""
    with contextlib.ExitStack() as stack:
        running = []
        for name, script in zip("ab", servers):
            folder = home / name
            lines = settings + scripted(folder, "shop", script)
            running.append(stack.enter_context(Program(binary, folder, lines)))
        proxy = RoundRobin(*running)
        stack.callback(proxy.shutdown)
        yield "127.0.0.1:%d" % proxy.server_port, running


def failwell(binary, node, *arguments):
    done = subprocess.run([binary, *arguments], cwd=node.folder, env=node.environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout


def approvals_are_one(binary, home):
    """An approval given at one node is used once, by any node, also after one node was killed."""
    with redis() as state, nodes(binary, home, state + '[tools.shop]\napprove = ["echo"]\n' + KEYS) as (proxy, (first, second)):
        def call(**arguments):
            return ask(proxy, "/v1/tools/shop__echo", ALICE, arguments)

        def decide(approval):
            return ask(proxy, f"/v1/approvals/{approval}", BOSS, {"decision": "approve"})[0]

        needed = [call(n=1)[1]["detail"]["facts"]["approval"] for _ in range(4)]
        assert len(set(needed)) == 1, "every node asks the same question"
        for node in (first, second):
            listed = ask(node.address.removeprefix("http://"), "/v1/approvals", BOSS)[1]
            assert needed[0] in json.dumps(listed), listed
        assert decide(needed[0]) == 200 and decide(needed[0]) == 409, "answered once"
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            answers = [one.result()[0] for one in [pool.submit(call, n=1) for _ in range(12)]]
        assert answers.count(200) == 1 and answers.count(409) == 11, answers
        waiting = call(n=2)[1]["detail"]["facts"]["approval"]
        assert waiting in failwell(binary, second, "approve")
        failwell(binary, first, "approve", waiting, "--yes")
        first.process.kill()
        first.process.wait()
        assert [call(n=2)[0] for _ in range(2)] == [200, 409]


def pins_are_one(binary, home):
    """A definition that one node pinned is held by the other when it differs there, until it is approved once."""
    def tools(description):
        return {"tools/list": {"result": {"tools": [{"name": "read", "description": description, "inputSchema": {"type": "object"}}]}}}

    with redis() as state:
        settings = state + KEYS
        with Program(binary, home / "first", settings + scripted(home / "first", "shop", tools("Reads."))) as first:
            def listed(node):
                return json.dumps(ask(node.address.removeprefix("http://"), "/v1/tools", ALICE)[1])

            def until(node, text, is_there):
                end = time.monotonic() + 15
                while (text in listed(node)) != is_there:
                    assert time.monotonic() < end, listed(node)
                    time.sleep(0.1)

            until(first, "Reads.", True)
            with Program(binary, home / "second", settings + scripted(home / "second", "shop", tools("Sends all."))) as second:
                until(second, "shop__read", False)
                held = ask(second.address.removeprefix("http://"), "/v1/tools/shop__read", ALICE, {})[1]
                assert held["detail"]["reason"] == "policy/PIN_CHANGED", held
                assert "Sends all." in failwell(binary, first, "pin", "diff")
                failwell(binary, first, "pin", "approve", "shop", "--yes")
                until(second, "Sends all.", True)
                until(first, "Reads.", False)


def keys_are_one(binary, home):
    """A key that was made through one node opens all of them at once, and nothing after it was taken back."""
    with redis() as state, nodes(binary, home, "require_key = true\n" + state) as (proxy, (first, second)):
        admin = [file.read_text().strip() for file in home.rglob("admin-key")]
        assert len(admin) == 1, "one first admin for all nodes"
        status, made, _ = ask(proxy, "/v1/keys", admin[0], {"name": "ci"})
        assert status == 201, made
        assert [ask(proxy, "/v1/me", made["key"])[0] for _ in range(4)] == [200] * 4
        connection = http.client.HTTPConnection(proxy, timeout=30)
        connection.request("DELETE", f"/v1/keys/{made['id']}", headers={"X-API-Key": admin[0]})
        assert connection.getresponse().status == 204
        assert [ask(proxy, "/v1/me", made["key"])[0] for _ in range(4)] == [401] * 4


def a_session_goes_on_when_a_node_dies(binary, home):
    """Requests of one session go to both nodes in turn; one is killed in the middle."""
    with redis() as state, nodes(binary, home, state + KEYS) as (proxy, (first, _)):
        both = {"Accept": "application/json, text/event-stream"}
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        _, opened, headers = ask(proxy, "/mcp", ALICE, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}, **both)
        session = {**both, "Mcp_Session_Id": headers["Mcp-Session-Id"], "MCP_Protocol_Version": "2025-11-25"}
        ask(proxy, "/mcp", ALICE, {"jsonrpc": "2.0", "method": "notifications/initialized"}, **session)
        for number in range(1, 13):
            if number == 7:
                first.process.kill()
                first.process.wait()
            request = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "shop__echo", "arguments": {}}}
            status, answer, _ = ask(proxy, "/mcp", ALICE, request, **session)
            assert status == 200 and answer["id"] == number and "result" in answer, (number, answer)


CASES = [
    approvals_are_one,
    pins_are_one,
    keys_are_one,
    a_session_goes_on_when_a_node_dies,
]
