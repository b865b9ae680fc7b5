"""A collector on loopback that parses OTLP/HTTP with OpenTelemetry's own definitions. Unknown fields are errors."""

import base64
import http.server
import json
import re
import threading

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

IDS = {"traceId": 16, "spanId": 8, "parentSpanId": 8}
KINDS = {"/v1/traces": ExportTraceServiceRequest, "/v1/logs": ExportLogsServiceRequest}


class Span:
    def __init__(self, span, resource):
        self.trace, self.id, self.parent = span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex()
        self.state, self.name, self.kind = span.trace_state, span.name, {2: "server", 3: "client"}[span.kind]
        self.start, self.end = span.start_time_unix_nano, span.end_time_unix_nano
        self.attributes, self.resource = attributes(span.attributes), resource
        self.failed, self.message = span.status.code == 2, span.status.message

    def __repr__(self):
        return f"<{self.kind} {self.name} {self.trace}/{self.id} of {self.parent} {self.attributes}>"


class Log:
    def __init__(self, record, resource):
        self.body, self.severity = record.body.string_value, record.severity_text
        self.trace, self.span = record.trace_id.hex(), record.span_id.hex()
        self.attributes, self.resource = attributes(record.attributes), resource
        self.record = json.loads(self.body)

    def __repr__(self):
        return f"<log {self.severity} {self.attributes}>"


def attributes(pairs):
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}


def with_base64_ids(value):
    """OTLP writes ids in hexadecimal, protobuf's own JSON in base64; the length is checked on the way."""
    if isinstance(value, list):
        return [with_base64_ids(item) for item in value]
    if not isinstance(value, dict):
        return value
    changed = {}
    for key, inner in value.items():
        if key in IDS:
            assert re.fullmatch("[0-9a-f]{%d}" % (2 * IDS[key]), inner), (key, inner)
            inner = base64.b64encode(bytes.fromhex(inner)).decode()
        changed[key] = with_base64_ids(inner)
    return changed


class Collector:
    """`answer` may be replaced: called with the path and the decoded request, it gives status, headers and body."""

    def __init__(self, port=0):
        self.lock, self.spans, self.logs, self.wrong, self.texts, self.headers = threading.Lock(), [], [], [], [], []
        self.answer = lambda path, count: (200, {}, b"{}")
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                status, headers, answer = collector.take(self.path, dict(self.headers), body)
                self.send_response(status)
                for name, value in (headers | {"content-length": str(len(answer))}).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, path, headers, body):
        try:
            assert headers["content-type"] == "application/json", headers
            request = json_format.ParseDict(with_base64_ids(json.loads(body)), KINDS[path]())
            found = [
                (Span if path == "/v1/traces" else Log)(item, attributes(group.resource.attributes))
                for group in (request.resource_spans if path == "/v1/traces" else request.resource_logs)
                for scope in (group.scope_spans if path == "/v1/traces" else group.scope_logs)
                for item in (scope.spans if path == "/v1/traces" else scope.log_records)
            ]
        except Exception as error:  # whatever is wrong with it is told by the case that waits
            with self.lock:
                self.wrong.append(f"{path}: {error!r}: {body[:2000]!r}")
            return 400, {}, b"{}"
        status, extra, answer = self.answer(path, len(found))
        if status == 200:
            with self.lock:
                (self.spans if path == "/v1/traces" else self.logs).extend(found)
                self.texts.append(body.decode())
                self.headers.append(headers)
        return status, extra, answer

    def clear(self):
        with self.lock:
            self.spans, self.logs, self.texts = [], [], []

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
