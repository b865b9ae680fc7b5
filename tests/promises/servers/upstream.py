#!/usr/bin/env python3
"""A small MCP server over stdio whose tools misbehave on request.

    upstream.py [--start-after SECONDS]
"""

import json
import sys
import time

TOOLS = {
    "fail": {"content": [{"type": "text", "text": "the shop is closed"}], "isError": True},
    "fail_structured": {
        "content": [{"type": "text", "text": "the shop is closed"}],
        "structuredContent": {"opens": "09:00"},
        "isError": True,
    },
    "succeed": {"content": [{"type": "text", "text": "sold"}], "structuredContent": {"isError": True, "sold": 1}, "isError": False},
}
# A boolean schema, and formats of other languages: some clients refuse the whole list because of one of them.
ODD = {
    "name": "odd",
    "inputSchema": {"type": "object", "properties": {"anything": True, "nothing": False, "count": {"type": "integer", "format": "uint64"}}},
    "outputSchema": {"type": "object", "properties": {"answer": True, "rows": {"type": "array", "items": True}}},
}


# Slightly less than the largest message that the gateway reads. The members that it adds make a response larger than that.
LARGEST = (16 << 20) - 8


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "shop", "version": "1"},
        }
    if method == "tools/list":
        names = [*TOOLS, "hang", "large"]
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names] + [ODD]}
    if method == "tools/call" and params["name"] in TOOLS:
        return TOOLS[params["name"]]
    return None


def main():
    if "--start-after" in sys.argv:
        time.sleep(float(sys.argv[sys.argv.index("--start-after") + 1]))
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        if request["method"] == "tools/call" and request["params"]["name"] == "hang":
            continue
        result = answer(request["method"], request.get("params", {}))
        reply = {"result": result} if result is not None else {"error": {"code": -32601, "message": "no such method"}}
        line = json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply})
        if request["method"] == "tools/call" and request["params"]["name"] == "large":
            text = {"content": [{"type": "text", "text": "LARGE"}]}
            line = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": text})
            line = line.replace("LARGE", "x" * (LARGEST - len(line)))
        print(line, flush=True)


if __name__ == "__main__":
    main()
