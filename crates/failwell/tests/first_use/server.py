"""A small server over standard input and output, for tests of the first commands that somebody tries."""

import json
import os
import sys

COUNT = {"type": "integer"}
TEXT = {"type": "string"}
TOOLS = [
    {
        "name": "repeat",
        "description": "Repeats a text.\nThe second line is for models.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": TEXT, "times": COUNT},
            "required": ["text"],
        },
    },
    {"name": "folder", "inputSchema": {"type": "object"}},
    {"name": "variable", "inputSchema": {"type": "object", "properties": {"name": TEXT}}},
    {"name": "count", "inputSchema": {"type": "object", "properties": {"to": COUNT}}},
    {"name": "picture", "inputSchema": {"type": "object"}},
    {"name": "fail", "inputSchema": {"type": "object"}},
    {"name": "refuse", "inputSchema": {"type": "object"}},
]


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(content, **more):
    return {"content": [{"type": "text", "text": content}], **more}


def call(name, arguments, token):
    if name == "repeat":
        whole = arguments["text"] * arguments.get("times", 1)
        structured = {"text": whole, "given": arguments}
        return text(json.dumps(structured), structuredContent=structured)
    if name == "folder":
        return text(os.getcwd())
    if name == "variable":
        return text(os.environ.get(arguments["name"], "-"))
    if name == "count":
        for step in range(1, arguments["to"] + 1):
            progress = {"progressToken": token, "progress": step, "total": arguments["to"]}
            say({"method": "notifications/progress", "params": {**progress, "message": f"step {step}"}})
        return text("counted")
    if name == "picture":
        return {"content": [{"type": "image", "mimeType": "image/png", "data": "iVBORw0K"}]}
    return text("the shop is closed", isError=True)


def answer(method, params):
    if method == "initialize":
        info = {"name": "trial", "version": "1"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": TOOLS}
    return call(params["name"], params.get("arguments") or {}, (params.get("_meta") or {}).get("progressToken"))


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method, params = message["method"], message.get("params") or {}
    if method not in ("initialize", "tools/list", "tools/call"):
        say({"id": message["id"], "error": {"code": -32601, "message": "unknown method"}})
    elif params.get("name") == "refuse":
        say({"id": message["id"], "error": {"code": -32000, "message": "not on a Friday"}})
    else:
        say({"id": message["id"], "result": answer(method, params)})
