"""Exactly one answer and one record per request, also when the program is stopped."""

import collections
import http.client
import json
import os
import queue
import re
import signal
import threading
import time
import urllib.request

from program import META, Program, Stdio, asked, ledger, modern_headers, scripted, until, upstream

ROUNDS = int(os.environ.get("PROMISES_ROUNDS", "3"))
CALLS = 200
DRAIN = 2  # seconds
# After the grace period: the time to end the calls and to write their answers, on a busy machine.
FLUSH = 6
# Long enough to be running when the program is stopped.
WAIT = {"seconds": 60}
TOOLS = [("lobby__wait", WAIT), ("shop__hang", {})]


class Call:
    """One call over HTTP on a connection of its own. `answer` is the message with its id, or what came instead."""

    def __init__(self, program, face, tool, arguments, number, session):
        self.face, self.tool, self.number = face, tool, number
        self.id, self.answer, self.error, self.ended = f"call-{number}", None, None, None
        host = program.address.removeprefix("http://")
        self.connection = http.client.HTTPConnection(host, timeout=60)
        path, headers, body = getattr(self, face)(tool, arguments, session)
        headers["Content-Type"] = "application/json"
        self.connection.request("POST", path, json.dumps(body), headers)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def message(self, method, params):
        return {"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}

    def session(self, tool, arguments, session):
        headers = {"Accept": "application/json, text/event-stream", "Mcp-Session-Id": session}
        return "/mcp", headers, self.message("tools/call", {"name": tool, "arguments": arguments})

    def stream(self, tool, arguments, session):
        path, headers, body = self.session(tool, arguments, session)
        headers["Accept"] = "text/event-stream, application/json"
        body["params"]["_meta"] = {"progressToken": self.number}
        return path, headers, body

    def modern(self, tool, arguments, _):
        params = {"name": tool, "arguments": arguments, "_meta": META}
        return "/mcp", modern_headers("tools/call", tool), self.message("tools/call", params)

    def modern_stream(self, tool, arguments, _):
        path, headers, body = self.modern(tool, arguments, None)
        headers["Accept"] = "text/event-stream, application/json"
        body["params"]["_meta"] = {**META, "progressToken": self.number}
        return path, headers, body

    def rpc(self, tool, arguments, _):
        return "/rpc", {}, self.message(tool, arguments)

    def rest(self, tool, arguments, _):
        return f"/v1/tools/{tool}", {}, arguments

    def read(self):
        try:
            response = self.connection.getresponse()
            self.answer = found = answers(response, self.id, self.face == "rest")
            if len(found) != 1:
                self.error = f"{response.status} with {len(found)} answers"
        except (OSError, http.client.HTTPException, ValueError) as problem:
            self.error = repr(problem)
        self.ended = time.monotonic()
        self.connection.close()


def answers(response, wanted, is_rest):
    """The answers in a body: a JSON document, or the events of a stream."""
    text = response.read().decode()
    if response.getheader("Content-Type", "").startswith("text/event-stream"):
        messages = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
    else:
        messages = [json.loads(text)]
    return messages if is_rest else [message for message in messages if message.get("id") == wanted]


def fault(message):
    """The fault object of an answer in any dialect."""
    if "result" in message:
        return message["result"]["_meta"]["dev.failwell/fault"]
    return message["error"]["data"] if "error" in message else message["detail"]


def begin_session(program):
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "promises", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    headers = {"Accept": "application/json, text/event-stream"}
    connection = http.client.HTTPConnection(program.address.removeprefix("http://"), timeout=60)
    connection.request("POST", "/mcp", json.dumps(body), {"Content-Type": "application/json", **headers})
    response = connection.getresponse()
    session = response.getheader("Mcp-Session-Id")
    response.read()
    headers["Mcp-Session-Id"] = session
    connection.request("POST", "/mcp", '{"jsonrpc":"2.0","method":"notifications/initialized"}',
                       {"Content-Type": "application/json", **headers})
    connection.getresponse().read()
    connection.close()
    return session


def in_flight(program):
    with urllib.request.urlopen(program.address + "/metrics", timeout=30) as page:
        return int(re.search(r"^failwell_requests_in_flight (\d+)", page.read().decode(), re.M)[1])


def every_call_over_http_is_answered(binary, home):
    """D1: 200 calls on every face and in both eras, to a built-in tool and a hanging upstream, then SIGTERM."""
    faces = ["session", "stream", "modern", "modern_stream", "rpc", "rest"]
    for round_ in range(ROUNDS):
        settings = 'servers = ["lobby"]\n' + upstream("shop", timeout_s=120)
        program = Program(binary, home / str(round_), settings, "--drain", str(DRAIN))
        with program:
            session = begin_session(program)
            program.mcp("tools/call", {"name": "shop__succeed", "arguments": {}})
            calls = [Call(program, faces[n % 6], *TOOLS[n // 6 % 2], n, session) for n in range(CALLS)]
            until = time.monotonic() + 30
            while in_flight(program) < CALLS and time.monotonic() < until:
                time.sleep(0.05)
            began = time.monotonic()
            program.process.send_signal(signal.SIGTERM)
            for call in calls:
                call.thread.join(max(0.1, began + DRAIN + FLUSH - time.monotonic()))
            check(calls, began)
            program.process.wait(20)
        assert program.stopped() == (0, 200, 0), program.screen
        records(program.records(), {call.id for call in calls if call.face != "rest"}, sum(call.face == "rest" for call in calls))


def check(calls, began):
    wrong = collections.Counter()
    for call in calls:
        problem = call.error or ("no answer" if call.answer is None else None)
        if problem is None:
            told = fault(call.answer[0])
            seen = (told["reason"], told["effect"], told["origin"])
            problem = None if seen == ("server/SHUTDOWN", "unknown", "failwell") else f"{seen}"
        if problem is None and call.ended - began > DRAIN + FLUSH:
            problem = f"answered {call.ended - began:.1f} s after the signal"
        if problem:
            wrong[f"{call.face} {call.tool}: {problem}"] += 1
    assert not wrong, "\n".join(f"{count} x {what}" for what, count in wrong.items())


def records(found, ids, without_id):
    """Each call has one record, which says how it ended."""
    found = [record for record in found if record.get("reason") == "server/SHUTDOWN"]
    counts = collections.Counter(json.loads(json.dumps(record.get("request_id"))) for record in found)
    named = collections.Counter()
    for request_id, count in counts.items():
        named[str(request_id).strip('"')] += count
    missing = [i for i in ids if named.get(i) != 1]
    assert not missing, f"{len(missing)} of {len(ids)} calls without exactly one record: {missing[:5]} {found[:1]}"
    assert len(found) == len(ids) + without_id, f"{len(found)} records of {len(ids) + without_id} calls"


def every_call_over_stdio_is_answered(binary, home):
    """D1 on stdio: both eras on one connection, and a request that is sent after the signal."""
    for round_ in range(ROUNDS):
        settings = 'servers = ["lobby"]\n' + upstream("shop", timeout_s=120)
        with Stdio(binary, home / str(round_), settings, "--drain", str(DRAIN)) as client:
            talk(client)
        records(ledger(client), {f"call-{n}" for n in range(CALLS)} | {"late"}, 0)


def talk(client):
    client.begin()
    client.send(id=1, method="tools/call", params={"name": "shop__succeed", "arguments": {}})
    assert client.hear(60)["id"] == 1
    for n in range(CALLS):
        tool, arguments = TOOLS[n // 2 % 2]
        params = {"name": tool, "arguments": arguments, **({"_meta": META} if n % 2 else {})}
        client.send(id=f"call-{n}", method="tools/call", params=params)
    # Answered after the calls were read, because lines are taken in order.
    client.send(id=2, method="ping")
    assert client.hear(60)["id"] == 2
    began = time.monotonic()
    client.process.send_signal(signal.SIGTERM)
    time.sleep(DRAIN / 2)
    client.send(id="late", method="tools/call", params={"name": "lobby__echo", "arguments": {"text": "x"}})
    late = client.hear(DRAIN)
    assert late["id"] == "late" and fault(late)["reason"] == "server/SHUTDOWN" and fault(late)["effect"] == "none", late
    seen = {}
    while len(seen) < CALLS:
        try:
            message = client.hear(max(0.1, began + DRAIN + FLUSH - time.monotonic()))
        except queue.Empty:
            break
        assert message["id"] not in seen, message
        seen[message["id"]] = fault(message)
    assert len(seen) == CALLS, f"{len(seen)} of {CALLS} answers"
    kinds = collections.Counter((told["reason"], told["effect"]) for told in seen.values())
    assert kinds == {("server/SHUTDOWN", "unknown"): CALLS}, kinds
    assert client.process.wait(20) == 0


def readiness(connection):
    """The status of `/readyz`; `None` when there is no answer any more."""
    try:
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        answer.read()
        return answer.status
    except (OSError, http.client.HTTPException):
        return None


def a_call_that_finishes_in_time_is_not_ended(binary, home):
    """Within the grace period a call finishes; new requests on open connections are refused; the last line says both."""
    program = Program(binary, home, 'servers = ["lobby"]\n', "--drain", "20")
    with program:
        host = program.address.removeprefix("http://")
        other = http.client.HTTPConnection(host, timeout=30)
        other.request("GET", "/healthz")
        other.getresponse().read()
        call = Call(program, "rest", "wait", {"seconds": 4}, 1, None)
        while in_flight(program) < 1:
            time.sleep(0.02)
        watcher = http.client.HTTPConnection(host, timeout=30)
        assert readiness(watcher) == 200
        program.process.send_signal(signal.SIGTERM)
        until("the shutdown begins", lambda: readiness(watcher) != 200)
        other.request("POST", "/v1/tools/echo", '{"text":"x"}', {"Content-Type": "application/json"})
        refused = other.getresponse()
        told = json.loads(refused.read())["detail"]
        assert (refused.status, told["reason"], told["effect"]) == (503, "server/SHUTDOWN", "none"), told
        began = time.monotonic()
        call.thread.join(30)
        assert not call.error and "waited 4 seconds" in json.dumps(call.answer), (call.error, call.answer)
        program.process.wait(20)
        assert time.monotonic() - began < 10, "it waited although nothing was running"
    assert program.stopped() == (1, 0, 0), program.screen


# What the upstream says about its task, and the status that it reports one after the other.
TASK = {"taskId": "theirs", "ttl": 60_000, "pollInterval": 100, "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z"}
FOLLOWING = {**META, "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}}


def with_task(folder, statuses):
    """The settings of a program with an upstream whose tool goes on as a task."""
    tool = {"name": "job", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "required"}}
    capabilities = {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}}
    server = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": {"name": "scripted", "version": "1"}}
    return 'servers = ["lobby"]\n' + scripted(folder, "up", {
        "initialize": {"result": server},
        "tools/list": {"result": {"tools": [tool]}},
        "tools/call": {"result": {"task": {**TASK, "status": "working"}}},
        "tasks/get": [{"result": {**TASK, "status": status}} for status in statuses],
        "tasks/result": {"result": {"content": [{"type": "text", "text": "at last"}]}},
        "tasks/cancel": {"result": {**TASK, "status": "cancelled"}},
    })


def begin_task(program):
    """Starts the task of the upstream. No request is open afterwards."""
    created = program.mcp("tools/call", {"name": "up__job", "arguments": {}, "_meta": FOLLOWING})
    assert created["result"]["resultType"] == "task", created
    account = program.mcp("tasks/get", {"taskId": created["result"]["taskId"], "_meta": FOLLOWING})
    assert account["result"]["status"] == "working", account


def a_task_that_outlives_the_grace_period_is_ended(binary, home):
    """A call that goes on after its answer is waited for, ended, recorded and told."""
    program = Program(binary, home, with_task(home.parent / (home.name + "-up"), ["working"]), "--drain", "2")
    with program:
        begin_task(program)
        began = time.monotonic()
        program.process.send_signal(signal.SIGTERM)
        assert program.process.wait(30) == 0
        assert time.monotonic() - began >= 2, "the task had no grace period"
        found = [record for record in program.records() if record.get("reason") == "server/SHUTDOWN"]
        assert [(record["method"], record["effect"]) for record in found] == [("tools/call", "unknown")], found
    assert program.stopped() == (0, 1, 0), program.screen
    methods = [request["method"] for request in asked(home.parent / (home.name + "-up"), "up")]
    assert "tasks/cancel" in methods, methods


def a_task_that_finishes_in_time_is_not_ended(binary, home):
    statuses = ["working"] * 20 + ["completed"]
    program = Program(binary, home, with_task(home.parent / (home.name + "-up"), statuses), "--drain", "60")
    with program:
        begin_task(program)
        program.process.send_signal(signal.SIGTERM)
        assert program.process.wait(50) == 0, "it waited although nothing was running"
        assert not [record for record in program.records() if record.get("reason")], program.records()
    assert program.stopped() == (1, 0, 0), program.screen
    methods = [request["method"] for request in asked(home.parent / (home.name + "-up"), "up")]
    assert "tasks/result" in methods, methods


CASES = [
    every_call_over_http_is_answered,
    every_call_over_stdio_is_answered,
    a_call_that_finishes_in_time_is_not_ended,
    a_task_that_outlives_the_grace_period_is_ended,
    a_task_that_finishes_in_time_is_not_ended,
]
