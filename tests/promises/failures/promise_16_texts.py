"""Texts name what is wrong: for clients, for models, in the log and in the ledger."""

import json
import subprocess

from nodes import one_node
from program import Program, Tasks

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "promises", "version": "1"}}


def first_answer(binary, folder, settings):
    """The answer of a stdio server to its first request, and its log."""
    folder.mkdir(parents=True)
    (folder / "failwell.toml").write_text(settings)
    hello = json.dumps({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": HELLO}) + "\n"
    environment = {"FAILWELL_STATE": str(folder / "state"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([binary, "stdio"], cwd=folder, env=environment, input=hello, capture_output=True, text=True, timeout=60)
    return json.loads(done.stdout.splitlines()[0]), done.stderr


@one_node("it is about one process that does not start")
def a_start_that_fails_tells_the_client_why(binary, folder):
    answer, log = first_answer(binary, folder, 'servers = ["lobby"]\nlissten = "127.0.0.1:1"\n')
    text = json.dumps(answer["error"])
    assert answer["error"]["code"] == -32001 and "line 2" in text and "lissten" in text and "listen" in text, answer
    assert '"level":"error"' in log.replace(" ", ""), log


def a_batch_says_what_an_operation_lacks(binary, folder):
    with Tasks(binary, folder) as program:
        for operation, pointer, word in (
            ({"op": "create"}, "/operations/0/name", "required"),
            ({"op": "creat", "name": "x"}, "/operations/0/op", "create"),
            ({"name": "x"}, "/operations/0/op", "required"),
            ({"op": "complete", "task": "x", "nmae": 1}, "/operations/0/nmae", ""),
        ):
            status, answer = program.tool("rtm_batch", operations=[operation])
            violations = answer["detail"]["violations"]
            found = [violation for violation in violations if violation["pointer"] == pointer]
            assert status == 422 and found and word in json.dumps(found), (operation, violations)


def texts_name_the_right_thing(binary, folder):
    with Tasks(binary, folder, more='[tools.tasks]\nhide = ["rtm_call"]') as program:
        status, answer = program.ask("POST", "/rpc", b'{"jsonrpc":"2.0","id":1,"method":"list_tools"}', {"Content-Type": "text/plain"})
        assert answer["error"]["code"] == -32700 and "Content-Type" in answer["error"]["message"], answer
        status, answer = program.tool("nothing_like_it")
        assert "GET /v1/tools" in answer["detail"]["hint"], answer
        status, answer = program.ask("GET", "/v1/resources/rtm://lists")
        assert "Failed to communicate" not in json.dumps(answer), answer
        program.log_in()
        status, answer = program.tool("rtm_completeTask", taskId="nothing")
        assert "taskId" in answer["detail"]["hint"], answer
        program.control("fail", {"kind": "refuse", "code": 4242, "message": "odd", "methods": "rtm.tasks.getList", "times": 1})
        status, answer = program.tool("rtm_findTasks", filter="name:x AND status:incomplete", live=True)
        assert answer.get("detail", {}).get("reason") != "tasks/INVALID_FILTER", answer


def health_tells_when_the_service_is_away(binary, folder):
    with Tasks(binary, folder).log_in() as program:
        def health():
            return json.dumps(program.ask("GET", "/v1/resources/failwell://health"))

        assert "ready" in health(), health()
        program.control("fail", {"kind": "unavailable"})
        assert "unreachable" in health() and "tasks/RTM_UNAVAILABLE" in health(), health()


def the_log_names_method_endpoint_and_id(binary, folder):
    with Tasks(binary, folder).log_in() as program:
        program.control("fail", {"kind": "unavailable"})
        body = {"jsonrpc": "2.0", "id": "req_123", "method": "rtm_findTasks", "params": {}}
        assert program.send("/rpc", body)[1]["error"]["data"]["reason"] == "tasks/RTM_UNAVAILABLE"
    line = next(json.loads(line) for line in program.logged("RTM_UNAVAILABLE").splitlines() if "RTM_UNAVAILABLE" in line)
    assert line["request_id"] == "req_123", line
    details = line["error_details"]
    assert details["rtm_method"].startswith("rtm.") and details["rtm_endpoint"].endswith("/services/rest/"), details
    record = next(record for record in program.records() if record.get("reason") == "tasks/RTM_UNAVAILABLE")
    assert record["request_id"] == "req_123" and "rtm_method" in json.dumps(record["story"]), record


def a_server_that_cannot_be_listed_has_its_record(binary, folder):
    settings = 'servers = ["lobby"]\n[[upstream]]\nname = "gone"\ncommand = ["/nonexistent/program"]\n'
    with Program(binary, folder, settings) as program:
        program.mcp("tools/list", {})
    found = [record for record in program.records() if record.get("method") == "aside"]
    assert found and found[0]["server"] == "gone" and "caller" in found[0] and "told" not in found[0], found
    listed = next(record for record in program.records() if record.get("method") == "tools/list")
    assert found[0]["ref"] != listed["ref"], (found, listed)


CASES = [
    a_start_that_fails_tells_the_client_why,
    a_batch_says_what_an_operation_lacks,
    texts_name_the_right_thing,
    health_tells_when_the_service_is_away,
    the_log_names_method_endpoint_and_id,
    a_server_that_cannot_be_listed_has_its_record,
]
