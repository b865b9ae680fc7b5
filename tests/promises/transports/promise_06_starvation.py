"""No caller can take the connections, sessions, tasks or memory of the others."""

import concurrent.futures
import contextlib
import http.client
import pathlib
import re
import resource
import socket
import time
import urllib.request

from program import KEYS, Program, until

CALL = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "promises", "version": "1"}}}


def connect(program):
    host, port = program.address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=20)


def metric(program, name):
    headers = {"X-API-Key": KEYS.ann}
    with urllib.request.urlopen(urllib.request.Request(program.address + "/metrics", headers=headers), timeout=30) as page:
        return int(re.search(rf"^{name} (\d+)", page.read().decode(), re.M)[1])


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


def silent_connections_lock_nobody_out(binary, home):
    """M1: more silent connections than there may be; others are served, the silent ones are closed, and it is told."""
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
            # The rest ends soon, because nothing is ever sent on them.
            until = time.monotonic() + 30
            while metric(program, "failwell_http_connections") > 5 and time.monotonic() < until:
                time.sleep(0.1)
            assert metric(program, "failwell_http_connections") <= 5, "silent connections stay open"
            for wire in wires:
                wire.close()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


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
            told = b""
            while chunk := extra.recv(65536):
                told += chunk
        assert told.startswith(b"HTTP/1.1 429") and b"http/TOO_MANY_CONNECTIONS" in told and b"retry-after" in told, told
        assert all(b"waited 4 seconds" in wire.recv(65536) for wire in wires)
        for wire in wires:
            wire.close()
        until("the refusal is counted", lambda: metric(program, "failwell_http_connections_refused_total") >= 1)
        assert any(record.get("reason") == "http/TOO_MANY_CONNECTIONS" for record in program.records())


def sessions_of_one_caller_leave_room_for_others(binary, home):
    """M2: ann opens as many sessions as she may; bob opens his."""
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


def bodies_in_flight_are_bounded(binary, home):
    """M3: 100 connections of ann, each with 15 of 16 MB sent; the rest is refused, bob is served, memory comes back."""
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


CASES = [
    silent_connections_lock_nobody_out,
    busy_connections_of_an_address_are_refused,
    sessions_of_one_caller_leave_room_for_others,
    bodies_in_flight_are_bounded,
]
