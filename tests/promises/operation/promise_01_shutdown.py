"""Exactly one answer and one record per request, also when the program is stopped."""

import asyncio
import collections
import concurrent.futures
import http.client
import json
import os
import queue
import re
import signal
import threading
import time
import urllib.request

from nodes import one_node
from open_calls import BATCHES, SESSIONS, RequestMaker
from program import META, Program, Stdio, asked, ledger, scripted, until, upstream

ROUNDS = int(os.environ.get("PROMISES_ROUNDS", "20"))
# So many programs run side by side: a round mostly waits for its grace period.
AT_ONCE = int(os.environ.get("PROMISES_AT_ONCE", "8"))
CALLS = 200
DRAIN = 2  # seconds
# After the grace period: the time to end the calls and to write their answers, on a busy machine.
FLUSH = 6
# Long enough to be running when the program is stopped.
WAIT = {"seconds": 60}
TOOLS = [("lobby__wait", WAIT), ("shop__hang", {})]
SETTINGS = 'servers = ["lobby"]\n' + upstream("shop", timeout_s=120)


def fault(message):
    """The fault object of an answer in any dialect."""
    if "result" in message:
        return message["result"]["_meta"]["dev.failwell/fault"]
    if "reason" in message:
        return message
    return message["error"]["data"] if "error" in message else message["detail"]


def in_flight(program):
    with urllib.request.urlopen(program.address + "/metrics", timeout=30) as page:
        return int(re.search(r"^failwell_requests_in_flight (\d+)", page.read().decode(), re.M)[1])


def side_by_side(round_of):
    """Runs every round, some at a time. The first that fails is the result."""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        running = [pool.submit(round_of, number) for number in range(ROUNDS)]
        failed, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_EXCEPTION)
        for later in running:
            later.cancel()
        for future in failed:
            future.result()


@one_node("it is about the end of one process")
def every_call_over_http_is_answered(binary, home):
    """D1: 200 calls in every dialect and era, to a built-in tool and a hanging upstream, then SIGTERM."""

    def round_(number):
        program = Program(binary, home / str(number), SETTINGS, "--drain", str(DRAIN))
        with program:
            program.mcp("tools/call", {"name": "shop__succeed", "arguments": {}})
            requests = RequestMaker(program).exactly(CALLS)
            began = asyncio.run(stop_under(program, requests))
            check(requests, began)
            assert program.process.wait(20) == 0
        assert program.stopped() == (0, CALLS, 0), program.screen
        named = {call for request in requests for call in request.ids if request.has_ids}
        records(program.records(), named, CALLS - len(named))

    side_by_side(round_)


async def stop_under(program, requests):
    """Ends the program while all of these are in flight, and returns when that was. Waits for their ends."""
    host = program.address.removeprefix("http://")
    running = [asyncio.create_task(request.run(host)) for request in requests]
    limit = time.monotonic() + 60
    while (seen := await asyncio.to_thread(in_flight, program)) < CALLS:
        early = [request for request in requests if request.ended]
        assert time.monotonic() < limit and not early, f"{seen} of {CALLS} calls in flight; ended: {[(r.dialect, r.problem, dict(r.answers)) for r in early[:3]]}"
        await asyncio.sleep(0.05)
    assert seen == CALLS and not any(request.ended for request in requests), seen
    began = time.monotonic()
    program.process.send_signal(signal.SIGTERM)
    _, late = await asyncio.wait(running, timeout=DRAIN + FLUSH)
    for task in late:
        task.cancel()
    return began


def check(requests, began):
    """Each call has exactly one answer: the shutdown, in its dialect and in time."""
    wrong = collections.Counter()
    for request in requests:
        for call in request.ids:
            faults = [fault(answer) for answer in request.answers[call]]
            seen = [(one["reason"], one["effect"], one["origin"]) for one in faults]
            problem = request.problem
            if problem is None and request.ended is None:
                problem = "no answer in time"
            if problem is None and seen != [("server/SHUTDOWN", "unknown", "failwell")]:
                problem = f"{seen}"
            if problem is None and request.ended < began + DRAIN - 0.1:
                problem = f"ended {request.ended - began:.1f} s after the signal, within the grace period"
            if problem:
                wrong[f"{request.dialect}: {problem}"] += 1
        strangers = request.answers.keys() - set(request.ids)
        if strangers:
            wrong[f"{request.dialect}: answers to {strangers}"] += 1
    assert not wrong, "\n".join(f"{count} x {what}" for what, count in wrong.items())


def records(found, ids, without_id):
    """Each call has one record, which says how it ended."""
    found = [record for record in found if record.get("reason") == "server/SHUTDOWN"]
    named = collections.Counter(str(record.get("request_id")).strip('"') for record in found)
    missing = [i for i in ids if named.get(i) != 1]
    assert not missing, f"{len(missing)} of {len(ids)} calls without exactly one record: {missing[:5]} {found[:1]}"
    assert len(found) == len(ids) + without_id, f"{len(found)} records of {len(ids) + without_id} calls"


@one_node("standard input belongs to one process")
def every_call_over_stdio_is_answered(binary, home):
    """D1 on stdio: both eras on one connection, another version each round, and a request that is sent after the signal."""

    def round_(number):
        version = SESSIONS[number % len(SESSIONS)]
        with Stdio(binary, home / str(number), SETTINGS, "--drain", str(DRAIN)) as client:
            talk(client, version)
        records(ledger(client), {f"call-{n}" for n in range(CALLS)} | {"late"}, 0)

    side_by_side(round_)


def calls_over_stdio(version):
    """200 calls, half of them modern. A version with batches has all calls of its session in batches."""
    modern, session = [], []
    for n in range(CALLS):
        tool, arguments = TOOLS[n // 2 % 2]
        params = {"name": tool, "arguments": arguments, **({"_meta": META} if n % 2 else {})}
        (modern if n % 2 else session).append({"jsonrpc": "2.0", "id": f"call-{n}", "method": "tools/call", "params": params})
    if version == BATCHES:
        session = [session[start : start + 10] for start in range(0, len(session), 10)]
    return modern + session


def talk(client, version):
    client.begin(version)
    client.send(id=1, method="tools/call", params={"name": "shop__succeed", "arguments": {}})
    assert client.hear(60)["id"] == 1
    for call in calls_over_stdio(version):
        client.write(json.dumps(call))
    # Lines are read in order, so its response shows that the calls were read. No call has an answer before.
    client.send(id=2, method="ping")
    assert client.hear(60) == {"jsonrpc": "2.0", "id": 2, "result": {}}
    began = time.monotonic()
    client.process.send_signal(signal.SIGTERM)
    time.sleep(DRAIN / 2)  # waits: the shutdown has begun, and its grace period has not ended
    client.send(id="late", method="tools/call", params={"name": "lobby__echo", "arguments": {"text": "x"}})
    late = client.hear(DRAIN)
    assert late["id"] == "late" and fault(late)["reason"] == "server/SHUTDOWN" and fault(late)["effect"] == "none", late
    seen = {}
    while len(seen) < CALLS:
        try:
            received = client.hear(max(0.1, began + DRAIN + FLUSH - time.monotonic()))
        except queue.Empty:
            break
        for message in received if isinstance(received, list) else [received]:
            assert message["id"] not in seen, message
            seen[message["id"]] = fault(message)
    assert len(seen) == CALLS, f"{len(seen)} of {CALLS} answers"
    kinds = collections.Counter((details["reason"], details["effect"]) for details in seen.values())
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


@one_node("it is about the end of one process")
def a_call_that_finishes_in_time_is_not_ended(binary, home):
    """Within the grace period a call finishes; new requests on open connections are refused; the last line says both."""
    program = Program(binary, home, 'servers = ["lobby"]\n', "--drain", "20")
    with program:
        host = program.address.removeprefix("http://")
        other = http.client.HTTPConnection(host, timeout=30)
        other.request("GET", "/healthz")
        other.getresponse().read()
        answers = queue.Queue()
        threading.Thread(target=lambda: answers.put(program.tool("wait", seconds=4)), daemon=True).start()
        while in_flight(program) < 1:
            time.sleep(0.02)
        watcher = http.client.HTTPConnection(host, timeout=30)
        assert readiness(watcher) == 200
        program.process.send_signal(signal.SIGTERM)
        until("the shutdown begins", lambda: readiness(watcher) != 200)
        other.request("POST", "/v1/tools/echo", '{"text":"x"}', {"Content-Type": "application/json"})
        refused = other.getresponse()
        details = json.loads(refused.read())["detail"]
        assert (refused.status, details["reason"], details["effect"]) == (503, "server/SHUTDOWN", "none"), details
        began = time.monotonic()
        answer = answers.get(timeout=30)
        assert answer[0] == 200 and "waited 4 seconds" in json.dumps(answer[1]), answer
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


@one_node("it is about the end of one process")
def a_task_that_outlives_the_grace_period_is_ended(binary, home):
    """A task that runs at shutdown is waited for, ended, recorded and counted."""
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


@one_node("it is about the end of one process")
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
