"""Requests of MCP clients over HTTP, of both eras."""

import base64
import json
import urllib.error
import urllib.request

MODERN = "2026-07-28"
SESSION = "2025-11-25"


def post(program, path, body, headers):
    """The JSON of the answer, and the id of the session."""
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
    request = urllib.request.Request(program.address + path, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            text, session = answer.read().decode(), answer.headers.get("Mcp-Session-Id")
    except urllib.error.HTTPError as refusal:
        text, session = refusal.read().decode(), None
    if text.startswith(("event:", "data:", "id:", ":")):
        text = [line[5:] for line in text.splitlines() if line.startswith("data:") and '"id"' in line][-1]
    return json.loads(text or "null"), session


def modern(program, method, params, path="/mcp"):
    """One request of the modern era."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "promises", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    name = params.get("name") or params.get("uri")
    if name:
        headers["Mcp-Name"] = "=?base64?" + base64.b64encode(name.encode()).decode() + "?="
    return post(program, path, {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}, headers)[0]


class Session:
    """A client of the session era."""

    def __init__(self, program, path="/mcp"):
        self.program, self.path, self.headers = program, path, {}
        params = {"protocolVersion": SESSION, "capabilities": {}, "clientInfo": {"name": "promises", "version": "1"}}
        _, session = post(program, path, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}, {})
        self.headers = {"Mcp-Session-Id": session, "MCP-Protocol-Version": SESSION}
        post(program, path, {"jsonrpc": "2.0", "method": "notifications/initialized"}, self.headers)

    def request(self, method, params):
        return post(self.program, self.path, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, self.headers)[0]
