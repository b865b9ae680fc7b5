"""The effect of a failure is right after a tool ran, no task is added twice, and undo keeps its promise."""

import concurrent.futures
import json
import socket
import subprocess
import sys
import time

from mcp_client import Session, post
from nodes import one_node
from program import META, Program, Tasks, asked, modern_headers, scripted, until, upstream, until

# A guard that has no verdict about the results of one tool.
GUARD = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    verdict = "perhaps" if asked["direction"] == "result" and asked["tool"] == "succeed" else "allow"
    print(json.dumps({"id": asked["id"], "verdict": verdict}), flush=True)
"""


def a_result_that_is_too_large_was_made(binary, folder):
    """M7 in every dialect with an envelope: the tool has run, so the failure says not to repeat the call."""
    with Program(binary, folder, upstream("up")) as program:
        params = {"name": "up__large", "arguments": {}}
        # The id is part of the answer. The result of the upstream leaves no room for a long one.
        call = {"jsonrpc": "2.0", "id": "long" * 16, "params": params}
        answers = {
            "modern": program.mcp("tools/call", params),
            "session": post(program, "/mcp", {**call, "method": "tools/call"}, Session(program).headers)[0],
            "rpc": program.send("/rpc", {**call, "method": "up__large", "params": {}})[1],
            "named": program.send("/rpc", {**call, "method": "execute_tool"})[1],
        }
        assert all("error" in answer for answer in answers.values()), {face: str(answer)[:100] for face, answer in answers.items()}
        faults = {face: answer["error"]["data"] for face, answer in answers.items()}
        for face, fault in faults.items():
            assert (fault["reason"], fault["effect"], fault["retry"]) == ("server/TOO_LARGE", "complete", "after_change"), (face, fault)
        refs = {fault["ref"] for fault in faults.values()}
        def recorded_of(refs):
            # A record is written shortly after its answer.
            return [record for record in program.records() if record["ref"] in refs]

        recorded = until("four records", lambda: len(found := recorded_of(refs)) == 4 and found)
        assert {record["effect"] for record in recorded} == {"complete"}, recorded
        # The same result without an envelope is no larger than the answer of the upstream.
        assert program.tool("up__large")[0] == 200


def a_response_without_a_verdict_does_not_invite_a_repetition(binary, folder):
    """M7: the tool has run; only its response could not be inspected. Every dialect says so."""
    guard = f'[[guard.custom]]\nname = "marks"\ncommand = {json.dumps([sys.executable, "-c", GUARD])}\n'
    with Program(binary, folder, upstream("up") + guard) as program:
        faults = [
            program.mcp("tools/call", {"name": "up__succeed", "arguments": {}})["error"]["data"],
            program.rpc("up__succeed", {})["error"]["data"],
            program.tool("up__succeed")[1]["detail"],
        ]
        for fault in faults:
            assert (fault["reason"], fault["effect"], fault["retry"]) == ("policy/GUARD_FAILED", "complete", "never"), fault
            assert "do not repeat" in fault["hint"] and "try again" not in fault["hint"], fault


def a_cancelled_call_may_have_done_something(binary, folder):
    with Program(binary, folder, 'servers = ["lobby"]\n') as program:
        host, port = program.address.removeprefix("http://").split(":")
        body = b'{"seconds": 20}'
        with socket.create_connection((host, int(port)), timeout=10) as call:
            call.sendall(b"POST /v1/tools/wait HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            call.settimeout(0.5)
            try:
                call.recv(1)
            except TimeoutError:
                pass
        for _ in range(50):
            found = [record for record in program.records() if record.get("reason") == "server/CANCELLED"]
            if found:
                break
        assert found and found[0]["effect"] == "unknown", program.records()


def hang_up(program, folder, path, headers, params, is_sent):
    """Calls a tool of the scripted server, and closes the connection when the server has the call."""
    host, port = program.address.removeprefix("http://").split(":")
    body = json.dumps({"jsonrpc": "2.0", "id": "gone", "method": "tools/call", "params": params}).encode()
    headers = {"Host": "127.0.0.1", "Content-Type": "application/json", "Content-Length": len(body), **headers}
    head = f"POST {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items()) + "\r\n"
    with socket.create_connection((host, int(port)), timeout=10) as call:
        call.sendall(head.encode() + body)
        return until("the upstream has the call", lambda: is_sent(asked(folder, "up")))


def calls_of(requests):
    return [request for request in requests if request["method"] == "tools/call"]


def cancelled_of(requests):
    return [request["params"]["requestId"] for request in requests if request["method"] == "notifications/cancelled"]


def a_modern_caller_who_leaves_cancels_the_call(binary, folder):
    """The upstream is told, the record says so once, and the next call of the same upstream is unharmed."""
    settings = 'servers = ["lobby"]\n' + scripted(folder, "up", {"tools/call:echo": {"silent": True}})
    with Program(binary, folder / "run", settings) as program:
        assert program.mcp("tools/list", {})["result"]["tools"]
        faces = (
            ("/mcp", "up__echo", {}, "application/json, text/event-stream"),
            ("/mcp", "up__echo", {"progressToken": 7}, "text/event-stream, application/json"),
            ("/mcp/up", "echo", {}, "application/json, text/event-stream"),
        )
        for count, (path, tool, more, accept) in enumerate(faces, 1):
            params = {"name": tool, "arguments": {}, "_meta": {**META, **more}}
            headers = {**modern_headers("tools/call", tool), "Accept": accept}
            calls = hang_up(program, folder, path, headers, params, lambda found: len(calls_of(found)) == count and calls_of(found))
            upstream_id = calls[-1]["id"]
            until("the upstream is told", lambda: cancelled_of(asked(folder, "up")) and cancelled_of(asked(folder, "up"))[-1] == upstream_id)
            found = until("a record", lambda: [r for r in program.records() if r.get("reason") == "server/CANCELLED"][count - 1:])
            assert len(found) == 1 and found[0]["effect"] == "unknown" and "gone" in str(found[0]["request_id"]), (path, found)
        assert len(cancelled_of(asked(folder, "up"))) == len(faces), asked(folder, "up")
        assert in_flight(program) == 0
        named = [record for record in program.records() if "gone" in str(record.get("request_id"))]
        assert len(named) == len(faces), named


def a_session_caller_who_leaves_cancels_nothing(binary, folder):
    """A session's client may come back for the answer: the call goes on, and has a record of its success."""
    settings = scripted(folder, "up", {"tools/call:echo": {"later": 1}})
    with Program(binary, folder / "run", settings) as program:
        headers = {**Session(program).headers, "Accept": "application/json, text/event-stream"}
        hang_up(program, folder, "/mcp", headers, {"name": "up__echo", "arguments": {}}, calls_of)
        found = until("a record", lambda: [r for r in program.records() if "gone" in str(r.get("request_id"))])
        assert len(found) == 1 and not found[0].get("reason"), found
        assert not cancelled_of(asked(folder, "up")), asked(folder, "up")


def in_flight(program):
    return program.metric("failwell_requests_in_flight")


def a_message_larger_than_an_answer_is_refused(binary, folder):
    folder.mkdir(parents=True)
    (folder / "failwell.toml").write_text(upstream("up", max_message_bytes=67108864))
    checked = subprocess.run([binary, "check"], cwd=folder, capture_output=True, text=True, timeout=60)
    assert checked.returncode == 1 and "max_message_bytes" in checked.stdout + checked.stderr, checked


def leave(program, method, tool, arguments, **fault):
    """Calls a tool and closes the connection before the service answers."""
    program.control("fail", {"kind": "delay", "milliseconds": 2500, "methods": method, "times": 1, **fault})
    host, port = program.address.removeprefix("http://").split(":")
    body = json.dumps(arguments).encode()
    head = f"POST /v1/tools/{tool} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection((host, int(port)), timeout=10) as call:
        call.sendall(head.encode() + body)
        call.settimeout(1)
        try:
            assert not call.recv(1), "answered too early"
        except TimeoutError:
            pass


@one_node("the tasks server remembers changes without an answer on its own node")
def a_task_is_not_added_twice(binary, folder):
    with Tasks(binary, folder).log_in() as program:
        program.tool("rtm_findTasks")
        for stage in ("after", "before"):
            leave(program, "rtm.tasks.add", "rtm_createTask", {"name": f"Milk {stage}"}, stage=stage)
            status, again = program.tool("rtm_createTask", name=f"Milk {stage}")
            assert (status, program.count(f"Milk {stage}")) == (200, 1), (stage, again)


def slow_down(program, milliseconds):
    """The service adds the next task at once, and answers late."""
    program.control("fail", {"kind": "delay", "milliseconds": milliseconds, "methods": "rtm.tasks.add", "times": 1})


def call_off(program, name):
    """Adds a task within a session, and cancels the call before the service answers."""
    slow_down(program, 2500)
    session = Session(program)
    params = {"name": "rtm_createTask", "arguments": {"name": name}}
    call = {"jsonrpc": "2.0", "id": "add", "method": "tools/call", "params": params}
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        calling = pool.submit(post, program, "/mcp", call, session.headers)
        # The service has the call, and its answer is on the way.
        until = time.monotonic() + 20
        while program.count(name) < 1:
            assert time.monotonic() < until, "the call does not begin"
            time.sleep(0.02)
        called_off = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "add"}}
        post(program, "/mcp", called_off, session.headers)
        # A cancelled request gets no answer.
        assert calling.result(20)[0] is None, calling.result()


@one_node("the tasks server remembers changes without an answer on its own node")
def a_cancelled_task_is_not_added_twice(binary, folder):
    """D4 by `notifications/cancelled`: the same call looks for the task before it adds it."""
    with Tasks(binary, folder).log_in() as program:
        program.tool("rtm_findTasks")
        call_off(program, "Milk")
        status, again = program.tool("rtm_createTask", name="Milk")
        assert (status, program.count("Milk")) == (200, 1), again
        found = [record for record in program.records() if record.get("reason") == "server/CANCELLED"]
        assert len(found) == 1 and found[0]["effect"] == "unknown", found


@one_node("the tasks server remembers changes without an answer on its own node")
def a_late_task_is_not_added_twice(binary, folder):
    """D4 by the deadline of the server."""
    with Tasks(binary, folder, "--request-timeout", "5").log_in() as program:
        program.tool("rtm_findTasks")
        slow_down(program, 10_500)
        # The second one waits for the first, finds its task, and is too late as well.
        for _ in range(2):
            status, answer = program.tool("rtm_createTask", name="Milk")
            assert (answer["detail"]["reason"], answer["detail"]["effect"]) == ("server/TIMEOUT", "unknown"), answer
        until = time.monotonic() + 30
        while (response := program.tool("rtm_createTask", name="Milk"))[0] != 200:
            assert time.monotonic() < until, response
            time.sleep(0.2)
        assert program.count("Milk") == 1, response


@one_node("the tasks server undoes what was done on its own node")
def undo_keeps_its_promise(binary, folder):
    with Tasks(binary, folder).log_in() as program:
        program.tool("rtm_createTask", name="U1")
        program.tool("rtm_createTask", name="U2")
        program.control("fail", {"kind": "reset", "stage": "after", "methods": "rtm.tasks.complete", "times": 1})
        assert program.tool("rtm_completeTask", taskId="U2")[0] == 200
        status, undone = program.tool("rtm_undo")
        assert status == 200, undone
        assert program.tool("rtm_findTasks", filter="status:incomplete")[1]["total"] == 2
        program.control("fail", {"kind": "reset", "stage": "after", "methods": "rtm.tasks.delete", "times": 1})
        assert program.tool("rtm_deleteTask", task="U2")[0] == 200
        status, undone = program.tool("rtm_undo")
        assert (status, undone["undone"][0]["about"], undone["passed_over"][0]["tool"]) == (200, "U1", "rtm_deleteTask"), undone
        assert program.count("U1") == 0


CASES = [
    a_result_that_is_too_large_was_made,
    a_response_without_a_verdict_does_not_invite_a_repetition,
    a_cancelled_call_may_have_done_something,
    a_modern_caller_who_leaves_cancels_the_call,
    a_session_caller_who_leaves_cancels_nothing,
    a_message_larger_than_an_answer_is_refused,
    a_task_is_not_added_twice,
    a_cancelled_task_is_not_added_twice,
    a_late_task_is_not_added_twice,
    undo_keeps_its_promise,
]
