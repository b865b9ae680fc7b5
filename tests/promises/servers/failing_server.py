#!/usr/bin/env python3
"""An MCP server over stdio whose tools fail with a traceback, an address and paths in their results."""

import json
import sys


def text(arguments):
    return (
        "Traceback (most recent call last):\n"
        '  File "/srv/app/handler.py", line 12, in call\n'
        "    rows[7]\n"
        f"LookupError: no row 7 in {arguments.get('file')} of /srv/app/cache (10.1.2.3:5432, db.internal)"
    )


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "shop", "version": "1"}}
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("fail", "fail_structured", "succeed")]}
    arguments = params.get("arguments", {})
    if method != "tools/call":
        return None
    if params["name"] == "succeed":
        return {"content": [{"type": "text", "text": "see /srv/app/report"}]}
    result = {"content": [{"type": "text", "text": text(arguments)}], "isError": True}
    if params["name"] == "fail_structured":
        result["structuredContent"] = {"opens": "09:00", "trace": text(arguments)}
    return result


def main():
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            result = answer(request["method"], request.get("params", {}))
            reply = {"result": result} if result is not None else {"error": {"code": -32601, "message": "no such method"}}
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}), flush=True)


if __name__ == "__main__":
    main()
