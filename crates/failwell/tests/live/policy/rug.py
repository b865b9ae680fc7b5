"""A server over standard input and output that says of its tools what a file says: when it starts, and when told to.

The first argument is the file, the second the era it speaks. What a file beside it says, it says of itself."""

import json
import os
import sys

FILE, ERA = sys.argv[1], sys.argv[2]


def read():
    with open(FILE, encoding="utf-8") as file:
        return file.read().replace("\n", " ")


def say(text):
    sys.stdout.write('{"jsonrpc":"2.0",' + text + "}\n")
    sys.stdout.flush()


OWN = os.path.join(os.path.dirname(FILE), "instructions.json")
own = ""
if os.path.exists(OWN):
    with open(OWN, encoding="utf-8") as words:
        own = ',"instructions":' + words.read()

tools = read()
for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params") or {}
    if "id" not in message or method == "subscriptions/listen":
        continue
    number = json.dumps(message["id"])
    done = '"resultType":"complete",' if ERA == "modern" else ""
    result = None
    if method == "server/discover" and ERA == "modern":
        result = '"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}' + own
    elif method == "initialize" and ERA == "session":
        info = '"serverInfo":{"name":"rug","version":"1"}'
        result = '"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},' + info + own
    elif method == "tools/list":
        result = '"tools":' + tools
    elif method == "tools/call":
        if params["name"] == "die":
            sys.exit(3)
        if params["name"] == "reload":
            tools = read()
            say('"method":"notifications/tools/list_changed"')
        text = json.dumps("ran " + params["name"])
        result = '"content":[{"type":"text","text":' + text + "}]"
    if result is None:
        say('"id":' + number + ',"error":{"code":-32601,"message":"no"}')
    else:
        say('"id":' + number + ',"result":{' + done + result + "}")
