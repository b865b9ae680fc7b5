"""Tool calls over HTTP in every dialect and era, each request on a connection of its own."""

import asyncio
import collections
import http.client
import io
import itertools
import json
import time

from program import META, modern_headers

SESSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
# Only this version of MCP has batches.
BATCHES = "2025-03-26"
BATCH = 4
PLAIN = "application/json, text/event-stream"
STREAM = "text/event-stream, application/json"
# A built-in tool and one of an upstream that never answers, by server and own name.
TOOLS = (("lobby", "wait", {"seconds": 60}), ("shop", "hang", {}))


class OpenRequest:
    """One request with one call, or with several in a batch. `answers` has the answer of each call by its id."""

    def __init__(self, dialect, path, headers, body, ids):
        self.dialect, self.path, self.headers, self.body, self.ids = dialect, path, headers, body, ids
        self.answers, self.problem, self.ended = collections.defaultdict(list), None, None

    @property
    def has_ids(self):
        return self.dialect not in ("rest", "problem")

    def bytes(self, host):
        body = json.dumps(self.body).encode()
        headers = {"Host": host, "Connection": "close", "Content-Type": "application/json", "Content-Length": len(body), **self.headers}
        return f"POST {self.path} HTTP/1.1\r\n".encode() + b"".join(f"{name}: {value}\r\n".encode() for name, value in headers.items()) + b"\r\n" + body

    async def run(self, host):
        """Sends the request and reads until the server closes the connection."""
        try:
            address, port = host.split(":")
            reader, writer = await asyncio.open_connection(address, int(port))
            writer.write(self.bytes(host))
            received = await reader.read()
            while not reader.at_eof():
                received += await reader.read()
            writer.close()
            self.read(received)
        except (OSError, http.client.HTTPException, ValueError) as problem:
            self.problem = repr(problem)
        self.ended = time.monotonic()

    def read(self, received):
        response = http.client.HTTPResponse(ReceivedBytes(received))
        response.begin()
        text = response.read().decode()
        if response.getheader("Content-Type", "").startswith("text/event-stream"):
            messages = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
        else:
            body = json.loads(text)
            messages = body if isinstance(body, list) else [body]
        for message in messages:
            if not self.has_ids:
                self.answers[self.ids[0]].append(message)
            elif "id" in message:
                self.answers[message["id"]].append(message)


class ReceivedBytes:
    """Bytes that were received, as a socket for `HTTPResponse`."""

    def __init__(self, received):
        self.received = received

    def makefile(self, *_):
        return io.BytesIO(self.received)


def begin_session(program, path, version):
    """The headers of a new session."""
    connection = http.client.HTTPConnection(program.address.removeprefix("http://"), timeout=60)
    headers = {"Accept": PLAIN, "Content-Type": "application/json"}

    def post(message):
        connection.request("POST", path, json.dumps({"jsonrpc": "2.0", **message}), headers)
        response = connection.getresponse()
        response.read()
        return response.getheader("Mcp-Session-Id")

    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "promises", "version": "1"}}
    headers["Mcp-Session-Id"] = post({"id": 0, "method": "initialize", "params": params})
    headers["MCP-Protocol-Version"] = version
    post({"method": "notifications/initialized"})
    connection.close()
    return headers


class RequestMaker:
    """Makes the requests, with ids that are unique in one program."""

    def __init__(self, program):
        self.count = itertools.count()
        # A session of one server has its own names, as its path has.
        self.sessions = {(path, version): begin_session(program, path, version) for path in ("/mcp", "/mcp/lobby", "/mcp/shop") for version in SESSIONS}

    def next_id(self):
        return f"call-{next(self.count)}"

    def message(self, method, params):
        return {"jsonrpc": "2.0", "id": self.next_id(), "method": method, "params": params}

    def modern(self, path, tool, arguments, accept):
        meta = {**META, "progressToken": "p"} if accept is STREAM else META
        body = self.message("tools/call", {"name": tool, "arguments": arguments, "_meta": meta})
        name = "modern stream" if accept is STREAM else "modern"
        return OpenRequest(f"{name} {path}", path, {**modern_headers("tools/call", tool), "Accept": accept}, body, [body["id"]])

    def session(self, version, path, tool, arguments, accept):
        body = self.message("tools/call", {"name": tool, "arguments": arguments})
        if accept is STREAM:
            body["params"]["_meta"] = {"progressToken": body["id"]}
        name = f"session {version}" + (" stream" if accept is STREAM else "")
        return OpenRequest(f"{name} {path}", path, {**self.sessions[path, version], "Accept": accept}, body, [body["id"]])

    def session_batch(self, tool, arguments):
        body = [self.message("tools/call", {"name": tool, "arguments": arguments}) for _ in range(BATCH)]
        return OpenRequest("session batch", "/mcp", self.sessions["/mcp", BATCHES], body, [one["id"] for one in body])

    def rpc(self, tool, arguments):
        body = self.message(tool, arguments)
        return OpenRequest("rpc", "/rpc", {}, body, [body["id"]])

    def rpc_batch(self, tool, arguments):
        named = {"name": tool, "arguments": arguments}
        body = [self.message("execute_tool", named) if turn % 2 else self.message(tool, arguments) for turn in range(BATCH)]
        return OpenRequest("rpc batch", "/rpc", {}, body, [one["id"] for one in body])

    def rest(self, tool, arguments, accept):
        dialect = "problem" if "problem" in accept else "rest"
        return OpenRequest(dialect, f"/v1/tools/{tool}", {"Accept": accept}, arguments, [self.next_id()])

    def every_dialect(self, server, name, arguments):
        """One request of each dialect and era to this tool."""
        tool = f"{server}__{name}"
        for accept in (PLAIN, STREAM):
            yield self.modern("/mcp", tool, arguments, accept)
            yield self.modern(f"/mcp/{server}", name, arguments, accept)
            for version in SESSIONS:
                yield self.session(version, "/mcp", tool, arguments, accept)
                yield self.session(version, f"/mcp/{server}", name, arguments, accept)
        yield self.session_batch(tool, arguments)
        yield self.rpc(tool, arguments)
        yield self.rpc_batch(tool, arguments)
        yield self.rest(tool, arguments, "application/json")
        yield self.rest(tool, arguments, "application/problem+json")

    def exactly(self, calls):
        """Requests with so many calls in all: every dialect to either tool, again and again."""
        made = []
        for server, name, arguments in itertools.cycle(TOOLS):
            for request in self.every_dialect(server, name, arguments):
                if len(request.ids) <= calls:
                    made.append(request)
                    calls -= len(request.ids)
            if not calls:
                return made
