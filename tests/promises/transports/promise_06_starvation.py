"""No caller can take the connections, sessions, tasks or memory of the others."""

import concurrent.futures
import contextlib
import http.client
import json
import pathlib
import re
import resource
import socket
import time
import urllib.request

from nodes import one_node
from program import KEYS, META, Program, modern_headers, scripted, until

CALL = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "promises", "version": "1"}}}


def connect(program, source="127.0.0.1"):
    host, port = program.address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=20, source_address=(source, 0))


def page(program):
    request = urllib.request.Request(program.address + "/metrics", headers={"X-API-Key": KEYS.ann})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read().decode()


def metric(program, name):
    return int(re.search(rf"^{name} (\d+)", page(program), re.M)[1])


def in_flight_seen_from_elsewhere(program):
    """The number of running requests, asked from an address that has connections left."""
    host, port = program.address.removeprefix("http://").split(":")
    other = http.client.HTTPConnection(host, int(port), timeout=30, source_address=("127.0.0.2", 0))
    with contextlib.closing(other):
        other.request("GET", "/metrics")
        return int(re.search(r"^failwell_requests_in_flight (\d+)", other.getresponse().read().decode(), re.M)[1])


def healthy(program):
    began = time.monotonic()
    with urllib.request.urlopen(program.address + "/healthz", timeout=60) as page:
        assert page.status == 200
    return time.monotonic() - began


@one_node("each node counts its own connections")
def silent_connections_lock_nobody_out(binary, home):
    """M1: more silent connections than the limit. Others are served, the silent ones are closed, and the log says so."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, hard), hard))
    try:
        limits = "[limits]\nconnections = 600\nconnections_per_address = 500\n"
        with Program(binary, home, 'servers = ["lobby"]\n' + KEYS.file + limits) as program:
            wires = [connect(program) for _ in range(700)]
            slowest = max(healthy(program) for _ in range(5))
            assert slowest < 2, f"an answer took {slowest:.1f} s"
            assert metric(program, "failwell_http_connections") <= 500
            assert metric(program, "failwell_http_connections_evicted_total") >= 200
            assert "idle connections have been closed" in (home / "log").read_text()
            # The other connections are closed soon, because nothing is sent on them.
            until = time.monotonic() + 30
            while metric(program, "failwell_http_connections") > 5 and time.monotonic() < until:
                time.sleep(0.1)
            assert metric(program, "failwell_http_connections") <= 5, "silent connections stay open"
            for wire in wires:
                wire.close()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@one_node("each node counts its own connections")
def busy_connections_of_an_address_are_refused(binary, home):
    """M1: an address whose connections are all busy gets 429 with Retry-After for another one."""
    with Program(binary, home, 'servers = ["lobby"]\n[limits]\nconnections_per_address = 20\n') as program:
        wires = [connect(program) for _ in range(20)]
        for wire in wires:
            body = b'{"seconds":4}'
            wire.sendall(b"POST /v1/tools/wait HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                         b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        until("all are busy", lambda: in_flight_seen_from_elsewhere(program) >= 20)
        with connect(program) as extra:
            extra.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            response = b""
            while chunk := extra.recv(65536):
                response += chunk
        assert response.startswith(b"HTTP/1.1 429") and b"http/TOO_MANY_CONNECTIONS" in response and b"retry-after" in response, response
        assert all(b"waited 4 seconds" in wire.recv(65536) for wire in wires)
        for wire in wires:
            wire.close()
        until("the refusal is counted", lambda: metric(program, "failwell_http_connections_refused_total") >= 1)
        assert any(record.get("reason") == "http/TOO_MANY_CONNECTIONS" for record in program.records())


@one_node("each node counts the sessions that began on it")
def sessions_of_one_caller_leave_room_for_others(binary, home):
    """M2: ann opens the maximum number of sessions; bob can still open one."""
    with Program(binary, home, 'servers = ["lobby"]\n' + KEYS.file + "[limits]\nsessions_per_caller = 50\n") as program:
        def begin(key):
            headers = {"Accept": "application/json, text/event-stream", "X-API-Key": key}
            return program.send("/mcp", CALL, headers)

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(begin, [KEYS.ann] * 60))
        refused = [body for status, body in answers if status == 429]
        assert len(refused) == 10 and refused[0]["error"]["data"]["reason"] == "http/TOO_MANY_SESSIONS", refused[:1]
        assert refused[0]["error"]["data"]["facts"]["limit"] == 50, refused[0]
        assert begin(KEYS.bob)[0] == 200


def rss(program):
    return int(pathlib.Path(f"/proc/{program.process.pid}/status").read_text().split("VmRSS:")[1].split()[0])


@one_node("each node counts the bodies in its memory")
def bodies_in_flight_are_bounded(binary, home):
    """M3: 100 connections of ann, each with 15 of 16 MB sent. The rest is refused, bob is served, memory is released."""
    limits = "[limits]\nconcurrency = 2\n"
    with Program(binary, home, 'servers = ["lobby"]\n' + KEYS.file + limits) as program:
        before = rss(program)
        head = (f"POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: {KEYS.ann}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {16_000_000}\r\n\r\n").encode()
        part = b" " * 1_000_000
        wires, statuses = [], []
        for _ in range(100):
            wire = connect(program)
            wires.append(wire)
            wire.sendall(head)
            wire.settimeout(0.2)
            try:
                statuses.append(wire.recv(65536))
            except TimeoutError:
                wire.settimeout(20)
                for _ in range(15):
                    wire.sendall(part)
                statuses.append(None)
        held = rss(program) - before
        assert held < 150_000, f"bodies of one caller hold {held} kB"
        assert statuses.count(None) == 4, f"{statuses.count(None)} bodies are taken"
        refused = next(status for status in statuses if status)
        assert b"http/TOO_MANY_BODIES" in refused, refused
        status, body = program.send("/v1/tools/echo", {"text": "x" * 1_000_000}, {"X-API-Key": KEYS.bob})
        assert status == 200, body
        for wire in wires:
            wire.close()
        until = time.monotonic() + 20
        while rss(program) - before > 40_000 and time.monotonic() < until:
            time.sleep(0.2)
        assert rss(program) - before <= 40_000, f"{rss(program) - before} kB stay although nothing is held"
        while metric(program, "failwell_http_body_bytes") and time.monotonic() < until:
            time.sleep(0.2)
        assert metric(program, "failwell_http_body_bytes") == 0


def request_of(caller, path, length):
    key = f"X-API-Key: {caller}\r\n" if caller else ""
    return f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{key}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n".encode()


def as_a_stream(tool, **arguments):
    """A call whose answer is a stream of events."""
    params = {"name": tool, "arguments": arguments, "_meta": META}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    headers = {**modern_headers("tools/call", tool), "Accept": "text/event-stream, application/json"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n{lines}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


@one_node("each node counts the bodies in its memory")
def bodies_of_strangers_take_no_room_of_callers(binary, home):
    """Refused requests without a key are read for their ids, with a separate memory limit."""
    limits = "[limits]\nbody_mb = 16\nbody_mb_per_caller = 16\n"
    with Program(binary, home, 'servers = ["lobby"]\n' + KEYS.file + limits) as program:
        wires = [connect(program) for _ in range(400)]
        for wire in wires:
            wire.sendall(request_of(None, "/rpc", 60_000) + b"[")
        # Each of them holds its memory for two seconds at the most.
        until = time.monotonic() + 10
        while metric(program, "failwell_http_body_bytes") == 0 and time.monotonic() < until:
            time.sleep(0.01)
        status, body = program.send("/v1/tools/no_such_tool", {"text": "x" * 15_000_000}, {"X-API-Key": KEYS.bob})
        assert (status, body["detail"]["reason"]) == (404, "mcp/UNKNOWN_TOOL"), body
        for wire in wires:
            wire.close()


@one_node("each node counts the bodies in its memory")
def bodies_of_all_callers_are_bounded(binary, home):
    """M3: bodies of several callers reach the total memory limit. One more is refused, recorded and logged."""
    limits = "[limits]\nbody_mb = 16\nbody_mb_per_caller = 16\n"
    with Program(binary, home, 'servers = ["lobby"]\n' + KEYS.file + limits) as program:
        with connect(program) as wire:
            wire.sendall(request_of(KEYS.ann, "/rpc", 15_500_000))
            until = time.monotonic() + 10
            while metric(program, "failwell_http_body_bytes") < 15_500_000:
                assert time.monotonic() < until, "the body is not counted"
                time.sleep(0.02)
            status, answer = program.send("/v1/tools/echo", {"text": "x" * 2_000_000}, {"X-API-Key": KEYS.bob})
            assert (status, answer["detail"]["reason"], answer["detail"]["effect"]) == (503, "http/BODIES_FULL", "none"), answer
            status, _ = program.send("/v1/tools/echo", {"text": "small"}, {"X-API-Key": KEYS.bob})
            assert status == 200, "small bodies need no room"
        assert 'failwell_faults_total{' in page(program) and 'reason="http/BODIES_FULL"' in page(program), page(program)
        program.logged("http/BODIES_FULL", answer["detail"]["ref"])
        until = time.monotonic() + 10
        while not (found := [record for record in program.records() if record.get("reason") == "http/BODIES_FULL"]):
            assert time.monotonic() < until, "no record"
        assert [record["caller"] for record in found] == ["key:bob"], found


@one_node("each node counts its own tasks")
def tasks_of_one_caller_leave_room_for_others(binary, home):
    """M2: ann has the maximum number of tasks; bob can start one. The refusal is recorded and logged."""
    task = {"taskId": "theirs", "ttl": 60_000, "pollInterval": 10_000, "status": "working", "createdAt": "2026-01-01T00:00:00Z",
            "lastUpdatedAt": "2026-01-01T00:00:00Z"}
    capabilities = {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}}
    upstream = scripted(home.parent / (home.name + "-up"), "up", {
        "initialize": {"result": {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": {"name": "s", "version": "1"}}},
        "tools/list": {"result": {"tools": [{"name": "job", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "required"}}]}},
        "tools/call": {"result": {"task": task}},
        "tasks/get": {"result": task},
        "tasks/cancel": {"result": {**task, "status": "cancelled"}},
    })
    following = {**META, "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}}
    with Program(binary, home, 'servers = ["lobby"]\n' + KEYS.file + upstream, "--drain", "0") as program:
        def begin(key):
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "up__job", "arguments": {}, "_meta": following}}
            return program.send("/mcp", body, {**modern_headers("tools/call", "up__job"), "X-API-Key": key})[1]

        begun = [begin(KEYS.ann) for _ in range(100)]
        assert all(answer["result"]["resultType"] == "task" for answer in begun), begun[-1]
        refused = begin(KEYS.ann)["error"]["data"]
        assert (refused["reason"], refused["facts"]["limit"]) == ("mcp/TOO_MANY_TASKS", 100), refused
        assert begin(KEYS.bob)["result"]["resultType"] == "task"
        program.logged("mcp/TOO_MANY_TASKS", refused["ref"])
        assert 'reason="mcp/TOO_MANY_TASKS"' in page(program), page(program)
        found = until("its record", lambda: [record for record in program.records() if record.get("reason") == "mcp/TOO_MANY_TASKS"])
        assert [record["caller"] for record in found] == ["key:ann"], found


@one_node("each node counts its own connections")
def all_connections_have_a_limit(binary, home):
    """M1: an idle connection is closed for a new one. If all are busy, the new one waits."""
    most = 20
    with Program(binary, home, f'servers = ["lobby"]\n[limits]\nconnections = {most}\n') as program:
        silent = [connect(program, f"127.0.0.{2 + number % 3}") for number in range(2 * most)]
        assert healthy(program) < 2
        assert metric(program, "failwell_http_connections") <= most
        assert metric(program, "failwell_http_connections_evicted_total") >= most
        assert metric(program, "failwell_http_connections_refused_total") == 0
        program.logged("idle connections have been closed")
        busy = [connect(program) for _ in range(most)]
        for wire in busy:
            wire.sendall(as_a_stream("wait", seconds=3))
        # The response head of a stream arrives at once, so all requests are being served.
        responses = [wire.recv(65536) for wire in busy]
        assert all(head.startswith(b"HTTP/1.1 200") for head in responses), responses
        with connect(program, "127.0.0.9") as extra:
            extra.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            # It is answered as soon as another request has ended.
            assert extra.recv(65536).startswith(b"HTTP/1.1 200")
        for wire, response in zip(busy, responses):
            while b"waited 3 seconds" not in response:
                response += (more := wire.recv(65536))
                assert more, response
        for wire in silent + busy:
            wire.close()


CASES = [
    silent_connections_lock_nobody_out,
    busy_connections_of_an_address_are_refused,
    sessions_of_one_caller_leave_room_for_others,
    bodies_in_flight_are_bounded,
    bodies_of_strangers_take_no_room_of_callers,
    bodies_of_all_callers_are_bounded,
    tasks_of_one_caller_leave_room_for_others,
    all_connections_have_a_limit,
]
