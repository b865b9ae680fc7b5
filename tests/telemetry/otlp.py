"""Spans and logs, as a collector gets them."""

import hashlib
import json
import time

from collector import Collector
from node import Node, nodes, until
from ports import free_port

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
CARRIED = {"traceparent": f"00-{TRACE}-{PARENT}-01", "tracestate": "rojo=1,congo=t61", "baggage": "tenant=blue"}
CANARY = "canary-7f3e-argument"
TOKEN = "ghp_" + ("x7Rk2mPq9WvL4tZs8NcY" * 2)[:36]


def spans(collector, count, trace=None):
    """Waits for at least this many spans, of one trace or of any."""
    def look():
        assert not collector.wrong, collector.wrong
        found = [span for span in list(collector.spans) if trace in (None, span.trace)]
        return found if len(found) >= count else None

    return until(f"{count} spans of {trace}: {collector.spans}", look)


def one(found, kind, name):
    fitting = [span for span in found if (span.kind, span.name) == (kind, name)]
    assert len(fitting) == 1, (kind, name, found)
    return fitting[0]


def parentage(binary):
    """client → gateway → upstreams in-process, over standard input and output and over HTTP: one trace, in order."""
    collector = Collector()
    otlp = f'[audit]\notlp = "{collector.url}"\n'
    far = Node(binary, 'servers = ["lobby"]\n' + otlp)
    with nodes(far):
        near = Node(binary, "")
        child = near.folder / "child.toml"
        child.write_text(f'servers = ["lobby"]\ndata_dir = "{near.folder}/child"\n{otlp}')
        near.config.write_text(
            'servers = ["lobby"]\n'
            f'[[upstream]]\nname = "far"\nurl = "{far.url}/mcp"\n'
            f'[[upstream]]\nname = "child"\ncommand = ["{binary}", "stdio", "--config", "{child}"]\n' + otlp
        )
        with nodes(near):
            for server in ("lobby", "child", "far"):
                near.call(f"{server}__echo", {"text": "warm"})
            for server, steps in (("lobby", 1), ("child", 3), ("far", 3)):
                collector.clear()
                status, answer = near.call(f"{server}__echo", {"text": CANARY}, CARRIED)
                assert status == 200 and CANARY in json.dumps(answer), answer
                found = spans(collector, steps, TRACE)
                outer = one(found, "server", f"tools/call {server}__echo")
                assert outer.parent == PARENT and not outer.failed, outer
                assert outer.state == CARRIED["tracestate"] and outer.end > outer.start > 0
                expect = {
                    "mcp.method.name": "tools/call", "gen_ai.tool.name": f"{server}__echo", "gen_ai.operation.name": "execute_tool",
                    "mcp.protocol.version": "2026-07-28", "jsonrpc.request.id": "7", "network.transport": "tcp",
                    "network.protocol.name": "http", "failwell.server": server, "failwell.caller": "anonymous",
                }
                assert expect.items() <= outer.attributes.items(), outer
                assert outer.resource["service.name"] == "failwell" and len(outer.resource["service.instance.id"]) == 16
                if steps == 3:
                    asked, inner = one(found, "client", "tools/call echo"), one(found, "server", "tools/call echo")
                    assert (asked.parent, inner.parent) == (outer.id, asked.id), found
                    assert inner.state == CARRIED["tracestate"], inner
                    assert asked.attributes["network.transport"] == ("tcp" if server == "far" else "pipe"), asked
                    assert ("server.port" in asked.attributes) == (server == "far"), asked
                    assert asked.attributes["failwell.server"] == server and asked.attributes["jsonrpc.request.id"].isdigit()
                    assert inner.resource["service.instance.id"] != outer.resource["service.instance.id"]
                record = until("the record", lambda: near.records("--trace", TRACE.upper(), "--tool", f"{server}__echo"))[0]
                assert (record["trace_id"], record["span_id"]) == (TRACE, outer.id), record
                story = near.run("explain", record["ref"]).stdout
                assert f"traced   trace {TRACE} · span {outer.id}" in story, story
            headers(near, collector)
            failures(near, collector)
            asked_badly(near, collector)
            assert not collector.wrong, collector.wrong
            for text in [*collector.texts]:
                assert CANARY not in text and TOKEN not in text and "hunter22" not in text, text
    collector.stop()


def headers(near, collector):
    """Without `_meta` the HTTP request's own trace is joined, in every dialect; with both, `_meta` counts."""
    other = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    header = {"traceparent": f"00-{other}-{PARENT}-01", "tracestate": "h=1"}
    for send, name in (
        (lambda: near.call("far__echo", {"text": "x"}, headers=header), "tools/call far__echo"),
        (lambda: near.send("/v1/tools/far__echo", {"text": "x"}, header), "execute_tool far__echo"),
        (lambda: near.send("/rpc", {"jsonrpc": "2.0", "id": "r", "method": "far__echo", "params": {"text": "x"}}, header), "execute_tool far__echo"),
        (lambda: near.send("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}, header), "initialize"),
    ):
        collector.clear()
        send()
        found = spans(collector, 1, other)
        span = until(name, lambda: [span for span in collector.spans if (span.kind, span.name) == ("server", name)])[0]
        assert (span.trace, span.parent, span.state) == (other, PARENT, "h=1"), (span, found)
    collector.clear()
    near.call("far__echo", {"text": "x"}, CARRIED, header)
    assert spans(collector, 3, TRACE)
    assert not [span for span in collector.spans if span.trace == other]


def failures(near, collector):
    """A failure is marked by its reason, with the number the caller got; a secret in a name is not repeated."""
    cases = (
        ("lobby__fail", {"reason": "gateway/UPSTREAM_TIMEOUT"}, "gateway/UPSTREAM_TIMEOUT", "1504"),
        ("far__fail", {"reason": "tasks/NOT_THERE"}, None, None),
        ("nobody__home", {}, "mcp/UNKNOWN_TOOL", "-32602"),
        (f"lobby__{TOKEN}", {"password": "postgres://bob:hunter22@db/x"}, "mcp/UNKNOWN_TOOL", "-32602"),
    )
    for tool, arguments, reason, code in cases:
        collector.clear()
        near.call(tool, arguments, CARRIED)
        # Spans of the upstream may arrive first.
        ours = lambda: [span for span in collector.spans if span.kind == "server" and span.parent == PARENT]
        outer = until("the span of the call", ours)[0]
        assert outer.failed and outer.attributes["error.type"], outer
        if reason:
            assert (outer.attributes["error.type"], outer.attributes.get("rpc.response.status_code")) == (reason, code), outer
            assert outer.message, outer
        assert TOKEN not in repr(outer) and (reason != "mcp/UNKNOWN_TOOL" or outer.name == "tools/call"), outer


def asked_badly(near, collector):
    """An invalid parent starts a new trace. An unsampled one is forwarded and not exported."""
    for parent in ("", "00-xyz", f"ff-{TRACE}-{PARENT}-01", f"00-{'0' * 32}-{PARENT}-01", f"00-{TRACE}-{PARENT}-01-more"):
        collector.clear()
        near.call("lobby__echo", {"text": "x"}, {"traceparent": parent})
        span = spans(collector, 1)[0]
        assert span.trace != TRACE and span.parent == "", (parent, span)
    collector.clear()
    near.call("far__echo", {"text": "x"}, {"traceparent": f"00-{TRACE}-{PARENT}-00"})
    # Each node exports in order: spans of the earlier call would arrive before those of this one.
    near.call("far__echo", {"text": "marker"})
    spans(collector, 3)
    assert not [span for span in collector.spans if span.trace == TRACE], collector.spans
    until("its record", lambda: [r for r in near.records("--trace", TRACE, "--tool", "far__echo") if "span_id" in r])


def logs_through_an_outage(binary):
    """Every record arrives once, in order and byte for byte, although the collector was down, busy and refused some."""
    port, mood = free_port(), {"busy": 2, "choosy": 3}
    config = (
        'servers = ["lobby"]\n[audit]\nbodies = true\n[audit.otlp]\n'
        f'url = "http://127.0.0.1:{port}"\nheaders = {{ Authorization = "Bearer ${{COLLECTOR_KEY}}" }}\nbatch = 50\nretry_s = 1\n'
    )
    node = Node(binary, config, environment={"COLLECTOR_KEY": "key-of-the-collector-4711"})
    with nodes(node):
        for number in range(60):
            node.call("echo", {"text": f"{number}"})
        until("it is told", lambda: "the export does not work; it is retried" in node.output())
        until("dropped spans", lambda: node.metrics()['failwell_export_dropped_total{to="otlp_spans"}'] > 0)
        until("all of them wait", lambda: node.metrics()['failwell_export_waiting{to="otlp_logs"}'] >= 60)
        numbers = node.metrics()
        assert numbers['failwell_export_up{to="otlp_logs"}'] == 0, numbers
        assert numbers['failwell_export_dropped_total{to="otlp_logs"}'] == 0
        node.stop()

    def answer(path, count):
        if path == "/v1/logs" and mood["busy"]:
            mood["busy"] -= 1
            return 503, {"retry-after": "1"}, b"later"
        if path == "/v1/logs" and count > 10 and mood["choosy"]:
            mood["choosy"] -= 1
            return 413, {}, b"too much"
        return 200, {}, b"{}"

    collector = Collector(port)
    collector.answer = answer
    with nodes(node):
        for number in range(60, 80):
            node.call("echo", {"text": f"{number}"})
        until("all of them", lambda: len([log for log in collector.logs if log.record.get("target") == "echo"]) >= 80)
        until("told again", lambda: "the export works again" in node.output())
        node.call("nobody", {})
        node.stop()  # what is left goes before the end
    assert not collector.wrong, collector.wrong
    check_chain(node, collector.logs)
    last = collector.logs[-1]
    assert (last.severity, last.attributes["error.type"]) == ("INFO", "mcp/UNKNOWN_TOOL"), last
    assert all(headers["authorization"] == "Bearer key-of-the-collector-4711" for headers in collector.headers)
    for text in (node.output(), *collector.texts):
        assert "key-of-the-collector" not in text
    assert any(span.attributes.get("gen_ai.tool.name") == "nobody" for span in collector.spans), "spans are flushed too"
    collector.stop()


def check_chain(node, logs):
    """The bodies are the records: every one, in order, and their hashes cover them."""
    kept = node.records("--limit", "100000")
    assert [log.attributes["failwell.record.seq"] for log in logs] == [record["seq"] for record in kept]
    before = hashlib.sha256(b"failwell ledger 1").digest()
    for log in logs:
        number = log.attributes["failwell.record.seq"]
        before = hashlib.sha256(before + number.to_bytes(8, "big") + log.body.encode()).digest()
        assert log.attributes["failwell.record.hash"] == before.hex(), log


def nobody_waits(binary):
    """A collector that never answers delays no call and no shutdown."""
    collector = Collector()
    collector.answer = lambda path, count: time.sleep(600) or (200, {}, b"{}")  # waits: this collector never answers
    config = f'servers = ["lobby"]\n[audit.otlp]\nurl = "{collector.url}"\nqueue = 8\nbatch = 4\ntimeout_s = 300\n'
    node = Node(binary, config)
    with nodes(node):
        begun = time.monotonic()
        for number in range(100):
            assert node.call("echo", {"text": "x"})[0] == 200
        assert time.monotonic() - begun < 100
        until("spans that did not fit", lambda: node.metrics()['failwell_export_dropped_total{to="otlp_spans"}'] > 50)
        begun = time.monotonic()
        node.stop()
        assert time.monotonic() - begun < 50, "the farewell has a deadline"
    collector.stop()


def off(binary):
    """Without `otlp`, the trace is forwarded unchanged and not recorded."""
    far = Node(binary, 'servers = ["lobby"]\n[audit]\nbodies = true\n')
    with nodes(far):
        near = Node(binary, f'[[upstream]]\nname = "far"\nurl = "{far.url}/mcp"\n')
        with nodes(near):
            near.call("far__echo", {"text": "x"}, CARRIED)
            kept = until("a record", lambda: [r for r in far.records("--tool", "echo")])[0]
            assert CARRIED["traceparent"] in kept["bodies"]["request"] and "trace_id" not in kept, kept
            assert not [name for name in near.metrics() if name.startswith("failwell_export")]


CASES = [parentage, logs_through_an_outage, nobody_waits, off]
