#!/usr/bin/env python3
"""An MCP server over stdio that puts a secret where no one should read it.

    leaky_server.py SECRET

Each tool leaks in its own way. `large` answers with a text of `bytes` bytes made of `unit`.
"""

import json
import sys

SECRET = sys.argv[1] if sys.argv[0].endswith("leaky_server.py") else ""
CUT = "\\nfirst line" * 30


def say(message):
    print(message, flush=True)


def error(identifier, message, data=None):
    say(json.dumps({"jsonrpc": "2.0", "id": identifier, "error": {"code": -32000, "message": message, **({"data": data} if data else {})}}))


def result(identifier, value):
    say(json.dumps({"jsonrpc": "2.0", "id": identifier, "result": value}))


LEAKS = {
    "bad_json": lambda i: say('{"jsonrpc":"2.0","id":%s,"result":{"content":[postgres://svc:S3cr3tP4ss@db and %s' % (json.dumps(i), SECRET)),
    "bad_string": lambda i: say('{"jsonrpc":"2.0","id":%s,"result":{"content":[{"text":"%s%s' % (json.dumps(i), CUT, SECRET)),
    "single_quotes": lambda i: say("{'jsonrpc': '2.0', 'id': %s, 'token': '%s'}" % (json.dumps(i), SECRET)),
    "not_json": lambda i: say("{%s}" % SECRET),
    "array": lambda i: say("[%s" % SECRET),
    "message": lambda i: error(i, "{'token': '%s'}" % SECRET),
    "message_cut": lambda i: error(i, '{"x": "%s %s' % (SECRET, "long " * 5000)),
    "message_plain": lambda i: error(i, "failed with " + SECRET),
    "data": lambda i: error(i, "failed", {"trace": "{" + SECRET}),
    "data_key": lambda i: error(i, "failed", {"{" + SECRET: 1}),
    "failed": lambda i: result(i, {"content": [{"type": "text", "text": "{" + SECRET}], "isError": True}),
    "fine": lambda i: result(i, {"content": [{"type": "text", "text": "{'t': '" + SECRET + "'}"}]}),
    "wrong_shape": lambda i: result(i, {"content": "{" + SECRET}),
}
NOISE = [
    '{"level":"info","token":' + SECRET,
    "{'token': '" + SECRET + "'}",
    "plain " + SECRET,
    '{"a":"' + SECRET + '"}',
    '{"a":"' + CUT + SECRET,
]


def main():
    for line in NOISE:
        print(line, file=sys.stderr, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        identifier, method, params = request["id"], request["method"], request.get("params", {})
        if method == "initialize":
            server = {"name": "leaky", "version": "1"}
            result(identifier, {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server})
        elif method == "tools/list":
            result(identifier, {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in [*LEAKS, "large", "dies"]]})
        elif method == "tools/call" and params["name"] == "large":
            wanted = params["arguments"]
            text = wanted["unit"] * (wanted["bytes"] // len(wanted["unit"]))
            result(identifier, {"content": [{"type": "text", "text": text}]})
        elif method == "tools/call" and params["name"] == "dies":
            print("{" + SECRET, file=sys.stderr, flush=True)
            sys.exit(3)
        elif method == "tools/call" and params["name"] in LEAKS:
            LEAKS[params["name"]](identifier)
        else:
            error(identifier, "no such method")


if __name__ == "__main__":
    main()
