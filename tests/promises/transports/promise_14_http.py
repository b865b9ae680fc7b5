"""Over HTTP every status has a body and a record, refusals keep their ids, and a request means one thing."""

import http.client
import json
import re
import socket
import time
import urllib.request

from nodes import one_node
from program import KEYS, Program

JSON = "Content-Type: application/json\r\n"


def exchange(program, data, limit=15, parts=1):
    """Sends raw bytes; status, headers and body of the answer, b"" when the connection was closed without one."""
    host, port = program.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=limit) as wire:
        step = len(data) // parts + 1
        for at in range(0, len(data), step):
            wire.sendall(data[at:at + step])
        response = http.client.HTTPResponse(wire)
        try:
            response.begin()
        except (http.client.HTTPException, OSError):
            return None, {}, b""
        return response.status, dict((k.lower(), v) for k, v in response.getheaders()), response.read()


def ask(program, line, *headers, body=""):
    """One request with exactly these header lines."""
    head = "".join(f"{header}\r\n" for header in headers)
    length = f"Content-Length: {len(body)}\r\n" if body else ""
    return exchange(program, f"{line} HTTP/1.1\r\n{head}{length}Connection: close\r\n\r\n{body}".encode())


def count(program, reason):
    with urllib.request.urlopen(program.address + "/metrics", timeout=30) as page:
        found = re.search(r'^failwell_faults_total\{reason="%s",[^}]*\} (\d+)' % re.escape(reason), page.read().decode(), re.M)
    return int(found[1]) if found else 0


@one_node("a proxy reads the heads and ends the connections before a node does")
def unreadable_heads_have_a_body_and_a_record(binary, home):
    """D18, L10: heads that the parser refuses: status, body, record and metric; 414 and 431 too."""
    cases = [
        ("http/BAD_HEAD", 400, b"NONSENSE\r\n\r\n"),
        ("http/BAD_HEAD", 400, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n"),
        ("http/BAD_HEAD", 400, b"POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
        ("http/BAD_HEAD", 400, b"GET / HTTP/1.1\r\nHost 127.0.0.1\r\n\r\n"),
        ("http/HEAD_TOO_LARGE", 431, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Pad: " + b"x" * 200_000 + b"\r\n\r\n"),
        ("http/TARGET_TOO_LONG", 414, b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"),
    ]
    with Program(binary, home, 'servers = ["lobby"]\n') as program:
        for reason, status, data in cases:
            before = count(program, reason)
            got, headers, body = exchange(program, data)
            assert got == status, (data[:40], got, body[:200])
            details = json.loads(body)
            assert details["detail"]["reason"] == reason and isinstance(details["error_code"], int), details
            assert headers["content-type"] == "application/json", headers
            assert count(program, reason) == before + 1, f"{reason} is not counted"
        # An earlier request on the same connection is answered normally.
        good = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        host, port = program.address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=15) as wire:
            wire.sendall(good + b"NONSENSE\r\n\r\n")
            text = b""
            while chunk := wire.recv(65536):
                text += chunk
        assert text.count(b"HTTP/1.1 200 OK") == 1 and b'"http/BAD_HEAD"' in text, text
        until = time.monotonic() + 10
        while len(program.records()) <= len(cases) and time.monotonic() < until:
            time.sleep(0.1)
        reasons = [record.get("reason") for record in program.records()]
        assert all(reasons.count(reason) >= sum(r == reason for r, _, _ in cases) for reason, _, _ in cases), reasons


def refusals_on_rpc_echo_their_ids(binary, home):
    """D17: without a valid key, ids of requests and batches come back; notifications get nothing."""
    with Program(binary, home, 'servers = ["lobby"]\n' + KEYS.file) as program:
        def rpc(body, *headers):
            status, _, text = ask(program, "POST /rpc", "Host: 127.0.0.1", "Content-Type: application/json", *headers,
                                  body=json.dumps(body))
            return status, json.loads(text) if text else None

        request = {"jsonrpc": "2.0", "id": "a-1", "method": "list_tools"}
        for headers in ([], ["X-API-Key: wrong"], ["Origin: https://evil.example"]):
            status, answer = rpc(request, *headers)
            assert status == 200 and answer["id"] == "a-1" and answer["error"]["data"]["reason"], answer
        status, answer = rpc([request, {**request, "id": 7}, {"jsonrpc": "2.0", "method": "note"}])
        assert status == 200 and [one["id"] for one in answer] == ["a-1", 7], answer
        assert {one["error"]["code"] for one in answer} == {-32000}, answer
        assert rpc({"jsonrpc": "2.0", "method": "note"}) == (204, None)
        status, answer = rpc({**request, "params": {"x": "y" * 100_000}})
        assert status == 200 and answer["id"] is None and answer["error"]["code"] == -32000, str(answer)[:300]
        assert rpc(request, f"X-API-Key: {KEYS.ann}")[1]["result"], "the key works"


def a_request_names_one_server_and_one_caller(binary, home):
    """L6, L7: absolute targets are judged by their own authority; two hosts or two callers are refused."""
    with Program(binary, home, 'servers = ["lobby"]\n' + KEYS.file) as program:
        key = f"X-API-Key: {KEYS.ann}"

        def check(expected, line, *headers):
            status, _, body = ask(program, line, *headers)
            reason = json.loads(body).get("detail", {}).get("reason") if status != 200 else None
            assert (status, reason) == expected, (line, headers, status, body)

        check((200, None), "GET /v1/tools", "Host: 127.0.0.1", key)
        check((200, None), "GET http://127.0.0.1/v1/tools", "Host: evil.example", key)
        check((403, "http/HOST"), "GET http://evil.example/v1/tools", "Host: 127.0.0.1", key)
        check((403, "http/HOST"), "GET http://evil.example/nowhere", "Host: 127.0.0.1", key)
        check((400, "http/REPEATED_HEADER"), "GET /v1/tools", "Host: 127.0.0.1", "Host: 127.0.0.1", key)
        check((400, "http/REPEATED_HEADER"), "GET /v1/tools", "Host: 127.0.0.1", "Host: evil.example", key)
        check((400, "http/REPEATED_HEADER"), "GET /v1/tools", "Host: 127.0.0.1", key, f"X-API-Key: {KEYS.bob}")
        bearer = f"Authorization: Bearer {KEYS.bob}"
        check((400, "http/REPEATED_HEADER"), "GET /v1/tools", "Host: 127.0.0.1", bearer, f"Authorization: Bearer {KEYS.ann}")
        check((400, "http/TWO_CREDENTIALS"), "GET /v1/tools", "Host: 127.0.0.1", bearer, key)
        check((200, None), "GET /v1/tools", "Host: 127.0.0.1", f"Authorization: Bearer {KEYS.ann}", key)


def bodies_are_named_for_what_they_are(binary, home):
    """L11: broken chunks, an encoded body and an early end are not reported as invalid JSON."""
    with Program(binary, home, 'servers = ["lobby"]\n') as program:
        def check(status, reason, head, body):
            data = f"POST /v1/tools/echo HTTP/1.1\r\nHost: 127.0.0.1\r\n{JSON}{head}\r\n".encode() + body
            got, _, text = exchange(program, data)
            assert got == status and json.loads(text)["detail"]["reason"] == reason, (head, got, text)

        check(400, "http/BAD_BODY", "Transfer-Encoding: chunked\r\n", b"zz\r\n{}\r\n0\r\n\r\n")
        check(415, "http/CONTENT_ENCODING", "Content-Encoding: gzip\r\nContent-Length: 4\r\n", b"\x1f\x8b\x08\x00")
        check(400, "rpc/NOT_JSON", "Content-Encoding: identity\r\nContent-Length: 4\r\n", b"nope")


def queries_are_decoded_and_not_repeated(binary, home):
    """L23: `limit=%31` is 1; `limit=1&limit=2` is refused."""
    with Program(binary, home, 'servers = ["lobby"]\n') as program:
        for _ in range(3):
            program.tool("echo", text="x")
        until = time.monotonic() + 10
        while b'"operations":[]' in ask(program, "GET /v1/operations", "Host: 127.0.0.1")[2] and time.monotonic() < until:
            time.sleep(0.1)
        for query, status in (("limit=%31", 200), ("%6cimit=1", 200), ("limit=1&limit=2", 422), ("limit=1&x=1&x=2", 200)):
            got, _, body = ask(program, f"GET /v1/operations?{query}", "Host: 127.0.0.1")
            assert got == status, (query, got, body)
            if status == 200:
                assert len(json.loads(body)["operations"]) == 1, body
            else:
                assert json.loads(body)["detail"]["reason"] == "http/QUERY", body


def allowed_origins_can_call(binary, home):
    """L9: an allowed page passes the preflight and can read responses and refusals; other pages cannot."""
    origin = "https://app.example"
    with Program(binary, home, 'servers = ["lobby"]\n' + KEYS.file, "--allow-origin", origin) as program:
        wanted = "content-type, authorization, mcp-session-id, mcp-protocol-version"
        for path, method in (("/mcp", "POST"), ("/mcp", "DELETE"), ("/rpc", "POST"), ("/v1/tools/echo", "POST")):
            lines = ["Host: 127.0.0.1", f"Access-Control-Request-Method: {method}", f"Access-Control-Request-Headers: {wanted}"]
            status, headers, _ = ask(program, f"OPTIONS {path}", *lines, f"Origin: {origin}")
            assert status == 204 and headers["access-control-allow-origin"] == origin, (path, status, headers)
            assert method in headers["access-control-allow-methods"] and "mcp-session-id" in headers["access-control-allow-headers"]
            status, headers, _ = ask(program, f"OPTIONS {path}", *lines, "Origin: https://evil.example")
            assert "access-control-allow-origin" not in headers and status in (403, 405), (path, status, headers)
        status, headers, _ = ask(program, "GET /v1/tools", "Host: 127.0.0.1", f"Origin: {origin}", f"X-API-Key: {KEYS.ann}")
        assert status == 200 and headers["access-control-allow-origin"] == origin and headers["vary"].lower() == "origin", headers
        assert "mcp-session-id" in headers["access-control-expose-headers"]
        status, headers, _ = ask(program, "GET /v1/tools", "Host: 127.0.0.1", f"Origin: {origin}")
        assert status == 401 and headers["access-control-allow-origin"] == origin, headers


CASES = [
    unreadable_heads_have_a_body_and_a_record,
    refusals_on_rpc_echo_their_ids,
    a_request_names_one_server_and_one_caller,
    bodies_are_named_for_what_they_are,
    queries_are_decoded_and_not_repeated,
    allowed_origins_can_call,
]
