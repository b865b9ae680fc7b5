#!/usr/bin/env python3
"""An MCP server over stdio that answers as a script says, and notes what it was asked.

    scripted.py SCRIPT.json

The script is an object: a method, or `method:NAME` for one tool, prompt or resource, to what happens.

    {"result": …}   answers with it            {"line": "…"}   writes this line, `ID` in it is the request's id
    {"bytes": "…"}  the same in Latin-1        {"hang": true}  reads nothing any more
    {"silent": true}  answers nothing          {"later": SECONDS}  answers as usual after this time
    {"run": "…"}    runs Python, then answers with an empty tool result
    a list          one after the other, the last again and again

Each request is a line in SCRIPT.json.asked.
"""

import json
import pathlib
import sys
import time

SCRIPT = pathlib.Path(sys.argv[1])
USUAL = {
    "initialize": {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "scripted", "version": "1"}}},
    "ping": {"result": {}},
    "tools/list": {"result": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}},
    "tools/call": {"result": {"content": [{"type": "text", "text": "done"}]}},
}


def step(script, request):
    params = request.get("params", {})
    name = params.get("name") or params.get("uri") or params.get("cursor")
    for key in (f"{request['method']}:{name}", request["method"]):
        found = script.get(key)
        if isinstance(found, list):
            found = found.pop(0) if len(found) > 1 else found[0]
        if found is not None:
            return found
    return {"line": '{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"no such method"}}'}


def main():
    script = USUAL | json.loads(SCRIPT.read_text())
    for line in sys.stdin:
        request = json.loads(line)
        with open(f"{SCRIPT}.asked", "a") as asked:
            asked.write(line)
        if "id" not in request:
            continue
        act, number = step(script, request), json.dumps(request["id"])
        if act.get("silent"):
            continue
        if act.get("hang"):
            time.sleep(600)  # waits: this server hangs
        if "later" in act:
            time.sleep(act["later"])  # waits: this server is slow
        if "run" in act:
            exec(act["run"], {})
        if "line" in act or "bytes" in act:
            text = (act.get("line") or act["bytes"]).replace("ID", number)
            sys.stdout.buffer.write(text.encode("utf-8" if "line" in act else "latin-1") + b"\n")
        else:
            reply = {"jsonrpc": "2.0", "id": request["id"], "result": act.get("result", {"content": []})}
            sys.stdout.buffer.write(json.dumps(reply).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
