"""Several nodes behave as one: approvals, pins, keys, sessions, rates and questions are the same on each."""

import collections
import concurrent.futures
import contextlib
import hashlib
import http.client
import json
import pathlib
import sys
import threading
import time

from nodes import CLUSTER
from program import META, Program, asked, fetch, modern_headers, scripted, until

ALICE, BOSS = "fw_alice_0123456789abcdef", "fw_boss_0123456789abcdef0"
KEYS = "".join(
    f'\n[[key]]\nname = "{name}"\nhash = "sha256:{hashlib.sha256(key.encode()).hexdigest()}"\nroles = {json.dumps(roles)}\n'
    for name, key, roles in (("alice", ALICE, []), ("boss", BOSS, ["admin"])))
NO_SERVERS = "servers = []\n"  # of ours
BOTH = {"Accept": "application/json, text/event-stream"}
# A server that asks, counts and takes its time; the tests of the program itself have it.
ASKING = pathlib.Path(__file__).resolve().parents[3] / "crates/failwell/tests/live/setup/upstream.py"
ABLE = {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}}}


@contextlib.contextmanager
def pair(binary, home, settings, *options):
    """Two nodes with one file behind a proxy."""
    with CLUSTER.of(2), Program(binary, home, settings, *options) as program:
        yield program


def asking(name):
    return f"\n[[upstream]]\nname = {json.dumps(name)}\ncommand = {json.dumps([sys.executable, str(ASKING)])}\n"


def ask(address, path, key, body=None, **headers):
    """Status, body and headers of a request with a key."""
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)
    head = {"X-API-Key": key, **{name.replace("_", "-"): value for name, value in headers.items()}}
    if body is not None:
        head["Content-Type"] = "application/json"
    connection.request("GET" if body is None else "POST", path, None if body is None else json.dumps(body), head)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read() or b"null"), answer.headers


def modern(address, method, params, key=ALICE):
    """The answer to a request of the modern era whose client can answer questions and follow tasks."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": ABLE}}
    headers = {**modern_headers(method, params.get("name") or params.get("taskId")), "X-API-Key": key}
    return fetch(address, "POST", "/mcp", json.dumps(body).encode(), {"Content-Type": "application/json", **headers})[1]


def begin_session(address, key=ALICE):
    """The headers of a session that began at this address."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "t", "version": "1"}}
    _, _, headers = ask(address, "/mcp", key, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}, **BOTH)
    session = {**BOTH, "Mcp_Session_Id": headers["Mcp-Session-Id"], "MCP_Protocol_Version": "2025-11-25"}
    ask(address, "/mcp", key, {"jsonrpc": "2.0", "method": "notifications/initialized"}, **session)
    return session


def failwell(program, node, *arguments):
    """A command on the machine of a node."""
    status, output = program.run(*arguments, node=node)
    assert status == 0, output
    return output


def call_of(number, name, **arguments):
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def approvals_are_one(binary, home):
    """An approval given at one node is used once, by any node, also after one node was killed."""
    with pair(binary, home, NO_SERVERS + '[tools.shop]\napprove = ["echo"]\n' + KEYS + scripted(home, "shop")) as program:
        first, second = program.nodes

        def call(**arguments):
            return ask(program.address, "/v1/tools/shop__echo", ALICE, arguments)

        def decide(approval):
            return ask(program.address, f"/v1/approvals/{approval}", BOSS, {"decision": "approve"})[0]

        needed = [call(n=1)[1]["detail"]["facts"]["approval"] for _ in range(4)]
        assert len(set(needed)) == 1, "every node asks the same question"
        for node in (first, second):
            listed = ask(node.address, "/v1/approvals", BOSS)[1]
            assert needed[0] in json.dumps(listed), listed
        assert decide(needed[0]) == 200 and decide(needed[0]) == 409, "answered once"
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            answers = [one.result()[0] for one in [pool.submit(call, n=1) for _ in range(12)]]
        assert answers.count(200) == 1 and answers.count(409) == 11, answers
        waiting = call(n=2)[1]["detail"]["facts"]["approval"]
        assert waiting in failwell(program, second, "approve")
        failwell(program, first, "approve", waiting, "--yes")
        first.kill()
        assert [call(n=2)[0] for _ in range(2)] == [200, 409]


def pending(program):
    """An approval that waits for a decision."""
    listed = ask(program.address, "/v1/approvals", BOSS)[1]["approvals"]
    return next((approval for approval in listed if approval["state"] == "pending"), None)


def a_waiting_call_hears_the_answer_of_another_node(binary, home):
    """A call that waits for a person on one node goes on when the answer comes to the other; of either era."""
    settings = NO_SERVERS + '[approval]\nwait_s = 60\n[tools.shop]\napprove = ["echo"]\n' + KEYS + scripted(home, "shop")
    with pair(binary, home, settings) as program, concurrent.futures.ThreadPoolExecutor(2) as pool:
        session = begin_session(program.address)
        calls = {
            "session": lambda: ask(program.address, "/mcp", ALICE, call_of(1, "shop__echo", era="session"), **session)[1],
            "modern": lambda: modern(program.address, "tools/call", {"name": "shop__echo", "arguments": {"era": "modern"}}),
        }
        for name, call in calls.items():
            waiting = pool.submit(call)
            question = until("a question", lambda: pending(program))
            # Both nodes decide; one of them is not the node of the call.
            decided = [ask(node.address, f"/v1/approvals/{question['id']}", BOSS, {"decision": "approve"})[0] for node in program.nodes]
            assert decided == [200, 409], (name, decided)
            assert "result" in waiting.result(30), (name, waiting.result())


def pins_are_one(binary, home):
    """A definition that one node pinned is held by the other when it differs there, until it is approved once."""
    def tools(description):
        return {"tools/list": {"result": {"tools": [{"name": "read", "description": description, "inputSchema": {"type": "object"}}]}}}

    def node(name, description):
        settings = NO_SERVERS + KEYS + scripted(home / name, "shop", tools(description))
        return Program(binary, home / name, settings, nodes=1, shares=home)

    def listed(program):
        return json.dumps(ask(program.address, "/v1/tools", ALICE)[1])

    with CLUSTER.of(2), node("first", "Reads.") as first:
        until("its tools", lambda: "Reads." in listed(first))
        with node("second", "Sends all.") as second:
            until("quarantine", lambda: "shop__read" not in listed(second))
            held = ask(second.address, "/v1/tools/shop__read", ALICE, {})[1]
            assert held["detail"]["reason"] == "policy/PIN_CHANGED", held
            assert "Sends all." in failwell(first, first.nodes[0], "pin", "diff")
            failwell(first, first.nodes[0], "pin", "approve", "shop", "--yes")
            until("the approved tools", lambda: "Sends all." in listed(second))
            until("quarantine of the others", lambda: "Reads." not in listed(first))


def keys_are_one(binary, home):
    """A key that was made through one node opens all of them at once, and nothing after it was taken back."""
    with pair(binary, home, 'require_key = true\nservers = ["lobby"]\n') as program:
        admin = [file.read_text().strip() for file in home.rglob("admin-key")]
        assert len(admin) == 1, "one first admin for all nodes"
        status, made, _ = ask(program.address, "/v1/keys", admin[0], {"name": "ci"})
        assert status == 201, made
        assert [ask(program.address, "/v1/me", made["key"])[0] for _ in range(4)] == [200] * 4
        assert program.ask("DELETE", f"/v1/keys/{made['id']}", headers={"X-API-Key": admin[0]})[0] == 204
        assert [ask(program.address, "/v1/me", made["key"])[0] for _ in range(4)] == [401] * 4


def a_session_goes_on_when_a_node_dies(binary, home):
    """Requests of one session go to both nodes in turn; one is killed in the middle."""
    with pair(binary, home, NO_SERVERS + KEYS + scripted(home, "shop")) as program:
        session = begin_session(program.address)
        for number in range(1, 13):
            if number == 7:
                program.nodes[0].kill()
            status, answer, _ = ask(program.address, "/mcp", ALICE, call_of(number, "shop__echo"), **session)
            assert status == 200 and answer["id"] == number and "result" in answer, (number, answer)


CALLS, CALLERS = 240, 12


def every_call_has_one_answer_while_a_node_dies(binary, home):
    """Calls of both eras and of REST while a node is killed: each is answered once and reaches the server at most once.

    The proxy answers 502 for a call whose node ended before its answer. Then the other node serves sessions, approvals, pins
    and keys that both knew.
    """
    settings = NO_SERVERS + '[tools.shop]\napprove = ["buy"]\n' + KEYS + scripted(home, "shop", {"tools/list": {"result": {"tools": [
        {"name": name, "inputSchema": {"type": "object"}} for name in ("echo", "buy")]}}})
    with pair(binary, home, settings) as program:
        first, second = program.nodes
        session = begin_session(program.address)
        made = ask(program.address, "/v1/keys", BOSS, {"name": "ci"})[1]
        needed = ask(program.address, "/v1/tools/shop__buy", ALICE, {"n": 1})[1]["detail"]["facts"]["approval"]
        assert ask(first.address, f"/v1/approvals/{needed}", BOSS, {"decision": "approve"})[0] == 200
        begun, half = counter(), threading.Event()

        def send(number):
            face = number % 3
            if face == 0:
                return ask(program.address, "/mcp", ALICE, call_of(number, "shop__echo", n=number), **session)
            if face == 1:
                body = call_of(number, "shop__echo", n=number)
                body["params"]["_meta"] = ABLE
                headers = {name.replace("-", "_"): value for name, value in modern_headers("tools/call", "shop__echo").items()}
                return ask(program.address, "/mcp", ALICE, body, **headers)
            return ask(program.address, "/v1/tools/shop__echo", ALICE, {"n": number})

        def call(number):
            """When it began, its status, and whether it is the answer to this call."""
            if begun() > CALLS // 2:
                half.set()
            began = time.monotonic()
            status, answer, _ = send(number)
            is_done = "content" in answer if number % 3 == 2 else answer.get("id") == number and "result" in answer
            return began, status, is_done

        with concurrent.futures.ThreadPoolExecutor(CALLERS) as pool:
            calls = [pool.submit(call, number) for number in range(CALLS)]
            assert half.wait(60), "too few calls"
            first.kill()
            gone = time.monotonic()
            answers = [one.result(60) for one in calls]
        # A call that began after the node was gone is never lost.
        lost = [number for number, (began, status, _) in enumerate(answers) if status == 502 and began < gone]
        wrong = {number: answer for number, answer in enumerate(answers) if number not in lost and answer[1:] != (200, True)}
        assert not wrong and len(lost) < CALLS // 2, (wrong, lost)
        ran = collections.Counter(request["params"]["arguments"].get("n") for request in asked(home, "shop") if request["method"] == "tools/call")
        assert max(ran.values()) == 1, "no call ran twice"
        assert all(ran[number] == 1 for number in range(CALLS) if number not in lost)

        assert "result" in ask(program.address, "/mcp", ALICE, call_of(1, "shop__echo"), **session)[1]
        assert [ask(program.address, "/v1/tools/shop__buy", ALICE, {"n": 1})[0] for _ in range(2)] == [200, 409]
        assert ask(program.address, "/v1/me", made["key"])[0] == 200
        assert "shop__echo" in failwell(program, second, "pin", "list")


def counter():
    """Counts its calls, from many threads."""
    lock, count = threading.Lock(), [0]

    def step():
        with lock:
            count[0] += 1
            return count[0]
    return step


def events(address, body, headers):
    """The messages of an answer that is a stream, as they come."""
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)
    head = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("POST", "/mcp", json.dumps(body), {"Content-Type": "application/json", "X-API-Key": ALICE, **head})
    for line in connection.getresponse():
        if line.startswith(b"data:") and line[5:].strip():
            yield json.loads(line[5:])


def questions_are_answered_through_any_node(binary, home):
    """The question comes on the stream of one node while the call waits; its answer is sent to the other."""
    with pair(binary, home, NO_SERVERS + KEYS + asking("up")) as program:
        session = begin_session(program.address)
        for number in range(1, 5):
            stream = events(program.address, call_of(number, "up__ask"), session)
            question = next(message for message in stream if message.get("method") == "elicitation/create")
            answer = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"name": f"Ada {number}"}}}
            assert ask(program.address, "/mcp", ALICE, answer, **session)[0] == 202
            last = list(stream)[-1]
            assert last["id"] == number and f"Ada {number}" in last["result"]["content"][0]["text"], last


def with_answers(answer, name):
    """The same call again, with answers to its questions."""
    keys = answer["result"]["inputRequests"]
    given = {key: {"action": "accept", "content": {"name": "Ada"}} for key in keys}
    return {"name": name, "arguments": {}, "inputResponses": given, "requestState": answer["result"]["requestState"]}


def a_call_that_waits_on_one_node_says_so_on_the_other(binary, home):
    """A modern client's call of a session server waits on its node. The other does nothing and says so; a dead one is told."""
    with pair(binary, home, NO_SERVERS + KEYS + asking("up")) as program:
        for _ in range(2):
            again = with_answers(modern(program.address, "tools/call", {"name": "up__ask", "arguments": {}}), "up__ask")
            # The next turn is the other node's, and the one after it is right again.
            elsewhere = modern(program.address, "tools/call", again)["error"]["data"]
            assert (elsewhere["reason"], elsewhere["effect"], elsewhere["retry"]) == ("gateway/ELSEWHERE", "none", "after_ms"), elsewhere
            done = modern(program.address, "tools/call", again)
            assert "Ada" in done["result"]["content"][0]["text"], done
        first, second = program.nodes
        again = with_answers(modern(first.address, "tools/call", {"name": "up__ask", "arguments": {}}), "up__ask")
        first.kill()
        lost = until("the end of the node", lambda: lost_node(modern(program.address, "tools/call", again)), 40)
        assert lost["effect"] == "unknown", lost


def lost_node(answer):
    data = answer["error"]["data"]
    return data if data["reason"] == "server/NODE_LOST" else None


def tasks_say_on_which_node_they_are(binary, home):
    """A task is on one node. The other does not take it for unknown, and tells when its node is gone."""
    task = {"taskId": "theirs", "ttl": 60_000, "pollInterval": 100, "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z"}
    working = {"result": {**task, "status": "working"}}
    server = scripted(home / "up", "up", {
        "initialize": {"result": {"protocolVersion": "2025-11-25", "serverInfo": {"name": "s", "version": "1"},
                                  "capabilities": {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}}}},
        "tools/list": {"result": {"tools": [{"name": "job", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "required"}}]}},
        "tools/call": {"result": {"task": {**task, "status": "working"}}},
        "tasks/get": working,
        "tasks/cancel": {"result": {**task, "status": "cancelled"}},
    })
    with pair(binary, home, NO_SERVERS + KEYS + server, "--drain", "0") as program:
        first, second = program.nodes

        def begin():
            return modern(first.address, "tools/call", {"name": "up__job", "arguments": {}})["result"]["taskId"]

        begun = begin()
        for method, more in (("tasks/get", {}), ("tasks/update", {"inputResponses": {}}), ("tasks/cancel", {})):
            data = modern(second.address, method, {"taskId": begun, **more})["error"]["data"]
            assert (data["reason"], data["effect"], data["retry"]) == ("gateway/ELSEWHERE", "none", "after_ms"), (method, data)
        # A client that repeats what is not here reaches the node in turn.
        seen = [modern(program.address, "tasks/get", {"taskId": begun}) for _ in range(4)]
        assert sorted("result" in answer for answer in seen) == [False, False, True, True], seen
        for unknown in ("0" * 16, f"{begun.split('.')[0]}x.y", "nowhere.y"):
            assert modern(second.address, "tasks/get", {"taskId": unknown})["error"]["data"]["reason"] == "mcp/UNKNOWN_TASK", unknown
        other = modern(first.address, "tasks/get", {"taskId": begun}, BOSS)["error"]["data"]
        assert other["reason"] == "mcp/UNKNOWN_TASK", "another caller's task is unknown on its own node"
        first.kill()
        lost = until("the end of the node", lambda: lost_node(modern(program.address, "tasks/get", {"taskId": begun})), 40)
        assert lost["effect"] == "unknown", lost


def rates_are_counted_together(binary, home):
    """A caller who is sent to both nodes has one rate, not two."""
    with pair(binary, home, NO_SERVERS + KEYS + '[limits]\nrate = "10/h"\n' + scripted(home, "shop")) as program:
        answers = [ask(program.address, "/v1/tools/shop__echo", ALICE, {})[0] for _ in range(20)]
        assert answers.count(200) == 10 and answers.count(429) == 10, answers


def sessions_of_rest_are_one(binary, home):
    """A REST session and its context are the same on each node, also after the node that opened it is gone."""
    with pair(binary, home, 'servers = ["lobby"]\n' + KEYS) as program:
        status, opened, headers = ask(program.address, "/v1/sessions", ALICE, {"ttl_s": 600})
        assert status == 201, opened
        item = headers["Location"] + "/context/k"
        put = program.ask("PUT", item, b'{"value": [1]}', {"X-API-Key": ALICE, "Content-Type": "application/json"})
        assert put[0] == 200, put
        assert [ask(program.address, item, ALICE)[1]["value"] for _ in range(4)] == [[1]] * 4
        program.nodes[0].kill()
        assert ask(program.address, item, ALICE)[1]["value"] == [1]


CASES = [
    approvals_are_one,
    a_waiting_call_hears_the_answer_of_another_node,
    pins_are_one,
    keys_are_one,
    a_session_goes_on_when_a_node_dies,
    every_call_has_one_answer_while_a_node_dies,
    questions_are_answered_through_any_node,
    a_call_that_waits_on_one_node_says_so_on_the_other,
    tasks_say_on_which_node_they_are,
    rates_are_counted_together,
    sessions_of_rest_are_one,
]
