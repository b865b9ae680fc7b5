"""Lists and results of upstreams are such that every client accepts them."""

import json
import re

from program import Program, scripted

ANY = {"type": "object"}
ODD_NAMES = ["", "a\nb", "a\0b", "\u202eevil", "\u200b", "x" * 5000, "two words", "schön", "good", "good"]
APP = {"name": "chart", "inputSchema": ANY, "_meta": {"ui": {"resourceUri": "ui://shop/chart", "visibility": ["model"]},
                                                      "ui/resourceUri": "ui://shop/chart", "kept": 1}}
OFFERS = {"tools": {}, "prompts": {}, "resources": {}, "completions": {}}
HELLO = {"result": {"protocolVersion": "2025-11-25", "capabilities": OFFERS, "serverInfo": {"name": "s", "version": "1"}}}


def tools(*names):
    return [{"name": name, "inputSchema": ANY} for name in names]


def at(program, path, method, params):
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}}
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    named = params.get("name") or params.get("uri")
    if named:
        headers["Mcp-Name"] = named
    return program.send(path, {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}, headers)[1]


def names_that_clients_reject_are_replaced(binary, home):
    """L5: at `/mcp` and at `/mcp/<server>`. The tools still work, and the log names each once."""
    script = {"initialize": HELLO, "tools/list": {"result": {"tools": tools(*ODD_NAMES)}},
              "prompts/list": {"result": {"prompts": [{"name": "p"}, {"name": 7}, "p", {"name": "q", "arguments": {}}]}},
              "resources/list": {"result": {"resources": [{"uri": "a:b"}, {"name": "no address"}, {"uri": "c:d", "name": "c", "title": None}]}}}
    with Program(binary, home, "servers = []\n" + scripted(home, "shop", script)) as program:
        for path, longest in (("/mcp", 64), ("/mcp/shop", 128)):
            for _ in range(2):
                listed = [tool["name"] for tool in at(program, path, "tools/list", {})["result"]["tools"]]
                assert len(listed) == len(set(listed)) == 8, listed
                assert all(re.fullmatch(r"[A-Za-z0-9_.-]{1,%d}" % longest, name) for name in listed), listed
            for name in listed:
                assert "result" in at(program, path, "tools/call", {"name": name, "arguments": {}}), name
            prompts = at(program, path, "prompts/list", {})["result"]["prompts"]
            assert len(prompts) == 1, prompts
            resources = at(program, path, "resources/list", {})["result"]["resources"]
            assert len(resources) == 2 and all(isinstance(one["name"], str) for one in resources), resources
            assert "title" not in resources[1], resources
        called = {json.loads(line)["params"]["name"] for line in (home / "shop.json.asked").read_text().splitlines()
                  if json.loads(line)["method"] == "tools/call"}
        assert called == set(ODD_NAMES) - {""}, "the server hears its own names"
        log = program.logged("the tool  of shop is left out of lists: its name is empty", "another one has the same name", "is listed as")
        assert log.count("its name is empty") == len(program.nodes), "each node tells once"


def cursors_that_repeat_end_the_list(binary, home):
    """L5: the list is complete and ends, and the log says why."""
    turn = {"result": {"tools": tools("one"), "nextCursor": "A"}}
    script = {"tools/list": turn, "tools/list:A": {"result": {"tools": tools("two"), "nextCursor": "B"}},
              "tools/list:B": {"result": {"tools": tools("three"), "nextCursor": "A"}}}
    with Program(binary, home, "servers = []\n" + scripted(home, "shop", script)) as program:
        listed = at(program, "/mcp", "tools/list", {})["result"]
        assert [tool["name"] for tool in listed["tools"]] == ["shop__one", "shop__two", "shop__three"], listed
        program.logged("its cursors repeat")
        pages, params = 0, {}
        while pages < 200:
            page = at(program, "/mcp/shop", "tools/list", params)["result"]
            pages += 1
            if "nextCursor" not in page:
                break
            params = {"cursor": page["nextCursor"]}
        assert pages <= 100, "a client that follows the cursors comes to an end"


def results_of_the_wrong_shape_are_garbled(binary, home):
    """D9: results of the wrong shape are refused for each method; valid ones pass."""
    wrong = {"text": {"content": "not a list"}, "null": {"content": None}, "none": {}, "words": {"content": ["x"]},
             "typeless": {"content": [{"text": "x"}]}, "half": {"content": [{"type": "image", "data": "AA=="}]},
             "flag": {"content": [], "isError": "no"}}
    right = {"plain": {"content": [{"type": "text", "text": "x"}]}, "new": {"content": [{"type": "hologram", "x": 1}]}}
    script = {"initialize": HELLO, "tools/list": {"result": {"tools": tools(*wrong, *right)}},
              "prompts/list": {"result": {"prompts": [{"name": "p"}]}},
              "prompts/get": {"result": {"messages": "none"}},
              "resources/read": {"result": {"contents": [{"uri": "a:b"}]}},
              "completion/complete": {"result": {"completion": {"values": "none"}}}}
    script |= {f"tools/call:{name}": {"result": result} for name, result in {**wrong, **right}.items()}
    with Program(binary, home, "servers = []\n" + scripted(home, "shop", script)) as program:
        asked = [("tools/call", {"name": f"shop__{name}", "arguments": {}}) for name in wrong]
        asked += [("prompts/get", {"name": "shop__p"}), ("resources/read", {"uri": "shop+a:b"}),
                  ("completion/complete", {"ref": {"type": "ref/prompt", "name": "shop__p"}, "argument": {"name": "a", "value": ""}})]
        for method, params in asked:
            answer = at(program, "/mcp", method, params)
            assert answer.get("error", {}).get("data", {}).get("reason") == "gateway/UPSTREAM_GARBLED", (method, params, answer)
        for name in right:
            assert at(program, "/mcp", "tools/call", {"name": f"shop__{name}", "arguments": {}})["result"]["content"] == right[name]["content"]


def addresses_of_user_interfaces_are_mapped(binary, home):
    """The URI of a tool's user interface can be read at `/mcp`."""
    script = {"initialize": HELLO, "tools/list": {"result": {"tools": [APP]}},
              "resources/read": {"result": {"contents": [{"uri": "ui://shop/chart", "text": "<html>"}]}}}
    with Program(binary, home, "servers = []\n" + scripted(home, "shop", script)) as program:
        meta = at(program, "/mcp", "tools/list", {})["result"]["tools"][0]["_meta"]
        uri = "shop+ui://shop/chart"
        assert meta == {"ui": {"resourceUri": uri, "visibility": ["model"]}, "ui/resourceUri": uri, "kept": 1}, meta
        assert at(program, "/mcp", "resources/read", {"uri": uri})["result"]["contents"][0]["uri"] == uri
        alone = at(program, "/mcp/shop", "tools/list", {})["result"]["tools"][0]
        assert alone["_meta"] == APP["_meta"], alone


CASES = [
    names_that_clients_reject_are_replaced,
    cursors_that_repeat_end_the_list,
    results_of_the_wrong_shape_are_garbled,
    addresses_of_user_interfaces_are_mapped,
]
