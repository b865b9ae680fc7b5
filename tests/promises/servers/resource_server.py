#!/usr/bin/env python3
"""An MCP server over stdio that opens the path of any `file` URI, as a careless server does.

    resource_server.py FOLDER LOG

Every URI that reaches it is a line of LOG. It lists `demo` resources in spellings that are not normal, and decodes
paths of `db` and `repo` like those of files.
"""

import json
import pathlib
import posixpath
import sys
import urllib.parse

LISTED = ["demo://Mixed/Case%2dHere", "demo://odd%2Fname", "demo://a//b", "urn:example:one"]
PRIVATE = "marker-of-the-private-file"


def decoded(uri):
    """The resource that the path of a URI means, as for a server that decodes it and splits it at slashes."""
    parts = urllib.parse.urlsplit(uri)
    path = posixpath.normpath("/" + urllib.parse.unquote(parts.path))
    return f"{parts.scheme}://{parts.netloc}{path.replace('//', '/')}"


def read(uri):
    if uri in LISTED or uri.startswith(("greeting://", "fetch://")):
        return "text of " + uri
    if uri.startswith(("db://", "repo://")):
        is_private = decoded(uri) == "db://h/a:b" or decoded(uri).startswith("repo://h/private/")
        return PRIVATE if is_private else "text of " + decoded(uri)
    if not uri.lower().startswith("file:"):
        return None
    try:
        return pathlib.Path(urllib.parse.unquote(urllib.parse.urlparse(uri).path)).read_text()
    except OSError:
        return None


def answer(method, params, folder):
    if method == "initialize":
        capabilities = {"resources": {"subscribe": True}, "completions": {}, "prompts": {}}
        return {"protocolVersion": params["protocolVersion"], "capabilities": capabilities, "serverInfo": {"name": "files", "version": "1"}}
    if method == "resources/list":
        own = [f"file://{folder}/notes/a.txt", f"file://{folder}/./private//s.txt"]
        return {"resources": [{"uri": uri, "name": uri} for uri in LISTED + own]}
    if method == "resources/templates/list":
        return {"resourceTemplates": [{"uriTemplate": f"FILE://{folder}/private/{{name}}", "name": "private"}, {"uriTemplate": "greeting://{name}", "name": "greeting"}]}
    if method == "prompts/list":
        return {"prompts": []}
    if method == "completion/complete":
        return {"completion": {"values": ["s.txt"]}}
    if method == "resources/subscribe":
        return {}
    if method == "resources/read":
        text = read(params["uri"])
        return None if text is None else {"contents": [{"uri": params["uri"], "text": text}]}
    return None


def main():
    folder, log = sys.argv[1], open(sys.argv[2], "a", encoding="utf-8")
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        params = request.get("params", {})
        uri = params.get("uri") or params.get("ref", {}).get("uri")
        if uri:
            print(uri, file=log, flush=True)
        result = answer(request["method"], params, folder)
        reply = {"result": result} if result is not None else {"error": {"code": -32002, "message": "no such resource"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}), flush=True)
        if request["method"] == "resources/subscribe":
            print(json.dumps({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}), flush=True)


if __name__ == "__main__":
    main()
