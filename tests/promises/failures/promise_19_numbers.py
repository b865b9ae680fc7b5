"""The statuses of the records carry the records' codes for tools too, and internal errors their sentence."""

import json
import urllib.request

from nodes import one_node
from program import Program, Tasks

CODES = {401: {-32000}, 403: {-32001}, 404: {-32601, -32800}, 422: {-32602}}


def every_reason_has_the_code_of_its_status(binary, folder):
    with Program(binary, folder, 'servers = ["lobby"]\n') as program:
        status, tools = program.ask("GET", "/v1/tools")
        schema = next(tool for tool in tools["tools"] if tool["name"] == "fail")["inputSchema"]
        reasons = schema["properties"]["reason"].get("enum") or ["device/CAPABILITY_DENIED", "device/NO_SUCH_ELEMENT", "tasks/NO_SUCH_TASK", "tasks/AMBIGUOUS", "device/INVALID_SELECTOR", "tasks/NOT_PERMITTED"]
        wrong = []
        for reason in reasons:
            status, answer = program.tool("fail", reason=reason)
            code = answer["error_code"]
            if status in CODES and code not in CODES[status]:
                wrong.append((reason, status, code))
            rpc = program.rpc("execute_tool", {"name": "fail", "arguments": {"reason": reason}})["error"]["code"]
            if rpc != code:
                wrong.append((reason, "rpc", rpc, code))
        assert not wrong, wrong


@one_node("the tasks server knows at once what was done on its own node only")
def a_tool_of_tasks_is_told_so(binary, folder):
    with Tasks(binary, folder).log_in() as program:
        status, answer = program.tool("rtm_completeTask", taskId="nothing")
        assert (status, answer["error_code"]) == (404, -32800), answer
        program.tool("rtm_createTask", name="twin")
        program.tool("rtm_createTask", name="twin")
        status, answer = program.tool("rtm_completeTask", taskId="twin")
        assert (status, answer["error_code"]) == (422, -32602), answer


def an_internal_error_says_so(binary, folder):
    with Program(binary, folder, 'servers = ["lobby"]\n') as program:
        headers = {"Accept": "application/json, text/event-stream"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "promises", "version": "1"}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
        request = urllib.request.Request(program.address + "/mcp", json.dumps(body).encode(), {"Content-Type": "application/json", **headers})
        with urllib.request.urlopen(request, timeout=30) as answer:
            session = answer.headers["mcp-session-id"]
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "fail", "arguments": {"reason": "server/BUG"}}}
        _, answer = program.send("/mcp", call, {**headers, "Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-06-18"})
        assert (answer["error"]["code"], answer["error"]["message"]) == (-32603, "An internal server error occurred."), answer


CASES = [every_reason_has_the_code_of_its_status, a_tool_of_tasks_is_told_so, an_internal_error_says_so]
