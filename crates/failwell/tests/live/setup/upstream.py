"""A small server over standard input and output: says who it is, takes its time, asks its client."""

import json
import os
import sys
import threading
import time

TOOLS = ["pid", "variable", "slow", "count", "ask", "leak"]
lock = threading.Lock()
waiting = {}
counted = 0


def say(message):
    with lock:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def ask(question):
    with lock:
        number = f"q{len(waiting)}"
        waiting[number] = (threading.Event(), [])
    say({"id": number, "method": "elicitation/create", "params": question})
    arrived, answer = waiting[number]
    arrived.wait(60)
    return answer[0] if answer else None


def run(name, arguments, token):
    global counted
    if name == "slow":
        end = time.monotonic() + arguments["ms"] / 1000
        steps = 0
        while time.monotonic() < end:
            time.sleep(0.1)
            steps += 1
            if token is not None:
                say({"method": "notifications/progress", "params": {"progressToken": token, "progress": steps}})
        return str(os.getpid())
    if name == "variable":
        return os.environ.get(arguments["name"], "")
    if name == "count":
        counted += 1
        return str(counted)
    if name == "ask":
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        answer = ask({"message": "who?", "requestedSchema": schema})
        return json.dumps((answer or {}).get("content"))
    return str(os.getpid())


def serve(message):
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        capabilities = {"tools": {}}
        info = {"name": "upstream", "version": "1"}
        result = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info}
    elif method == "tools/list":
        result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}
    elif method == "tools/call" and params["name"] == "leak":
        text = params["arguments"]["text"]
        print(text, file=sys.stderr, flush=True)
        say({"id": message["id"], "error": {"code": -32000, "message": text, "data": {text: [text]}}})
        return
    elif method == "tools/call":
        token = (params.get("_meta") or {}).get("progressToken")
        text = run(params["name"], params.get("arguments") or {}, token)
        result = {"content": [{"type": "text", "text": text}]}
    else:
        say({"id": message["id"], "error": {"code": -32601, "message": "no"}})
        return
    say({"id": message["id"], "result": result})


for line in sys.stdin:
    message = json.loads(line)
    if "method" in message and "id" in message:
        threading.Thread(target=serve, args=(message,), daemon=True).start()
    elif "id" in message and message["id"] in waiting:
        arrived, answer = waiting[message["id"]]
        answer.append(message.get("result"))
        arrived.set()
