//! HTTP: failures before the message is read.

crate::reasons! {
    pub(crate) static ROWS;

    HTTP_METHOD = "http/METHOD" {
        Unsupported, MethodNotAllowed, Caller,
        title: "HTTP method not allowed here",
        hint: "use one of: {allow}",
        about: "The path exists, but not with this HTTP method. The `Allow` header lists the allowed methods.",
    }
    HTTP_HOST = "http/HOST" {
        Denied, ForeignOrigin, Caller,
        title: "the Host header names another host",
        hint: "connect to the address the server listens on, or start it with --allow-host",
        about: "A web page can point its own name at a local server (DNS rebinding). The server accepts only known host names.",
    }
    HTTP_ORIGIN = "http/ORIGIN" {
        Denied, ForeignOrigin, Caller,
        title: "the Origin header names a foreign site",
        hint: "call from a page on this machine, or start the server with --allow-origin",
        about: "Browsers send the Origin header. A foreign origin means that a page of another site makes the request.",
    }
    HTTP_CONTENT_TYPE = "http/CONTENT_TYPE" {
        Malformed, MediaType, Caller,
        title: "the body is not application/json",
        hint: "send the header `Content-Type: application/json`",
        about: "Browsers may send other content types across sites without a preflight request. The server therefore accepts only application/json.",
    }
    HTTP_FORM = "http/FORM" {
        Malformed, MediaType, Caller,
        title: "the body is not multipart/form-data",
        hint: "send the upload as multipart form data: `Content-Type: multipart/form-data`",
        about: "This path accepts file uploads as multipart form data.",
    }
    HTTP_CONTENT_ENCODING = "http/CONTENT_ENCODING" {
        Malformed, MediaType, Caller,
        title: "the body has a content encoding",
        hint: "send the body without the header `Content-Encoding`, uncompressed",
        about: "Request bodies are read as they are. A compressed body could be small on the wire and large in memory.",
    }
    HTTP_BAD_BODY = "http/BAD_BODY" {
        Malformed, BadShape, Caller,
        title: "the body cannot be received",
        hint: "send as many bytes as `Content-Length` says, or valid chunks up to the last one",
        about: "The body ended early, or its chunks are not valid HTTP. No part of it was processed.",
    }
    HTTP_BAD_HEAD = "http/BAD_HEAD" {
        Malformed, BadShape, Caller,
        title: "the request head is not valid HTTP",
        hint: "send an HTTP/1.1 request: a request line, header lines and an empty line; state the length of the body once",
        about: "The request line or a header line cannot be read, or the headers disagree about the length of the body. The connection closes.",
    }
    HTTP_HEAD_TOO_LARGE = "http/HEAD_TOO_LARGE" {
        Exhausted, HeadTooLarge, Caller,
        title: "the request head is too large",
        detail: "the request head is larger than {limit} bytes or has too many headers",
        hint: "send fewer or shorter headers, at most {limit} bytes in all",
        about: "The size of a request head is limited. The connection closes.",
    }
    HTTP_TARGET_TOO_LONG = "http/TARGET_TOO_LONG" {
        Exhausted, TargetTooLong, Caller,
        title: "the request target is too long",
        hint: "shorten the path and the query; send large values in the body",
        about: "The length of a path with its query is limited. The connection closes.",
    }
    HTTP_SLOW_HEAD = "http/SLOW_HEAD" {
        Timeout, SlowBody, Caller,
        title: "the request head did not arrive in time",
        detail: "the request head did not arrive within {limit_s} seconds",
        hint: "send the whole head within {limit_s} seconds",
        about: "A slow head keeps a connection busy, so a head must arrive before a deadline. The connection closes.",
    }
    HTTP_REPEATED_HEADER = "http/REPEATED_HEADER" {
        Malformed, BadShape, Caller,
        title: "a header that must be single is repeated",
        detail: "the header {header} is repeated",
        hint: "send {header} once",
        about: "Two values of such a header could be read differently by two programs on the way, so the request is rejected.",
    }
    HTTP_TWO_CREDENTIALS = "http/TWO_CREDENTIALS" {
        Malformed, BadShape, Caller,
        title: "the request has two different credentials",
        hint: "send either `Authorization` or `X-API-Key`",
        about: "Both headers are present and name different keys or tokens. The request could run as either caller, so it is rejected.",
    }
    HTTP_ACCEPT = "http/ACCEPT" {
        Malformed, NotAcceptable, Caller,
        title: "the Accept header allows no supported content type",
        hint: "send `Accept: application/json, text/event-stream`",
        about: "MCP over HTTP responds with JSON or with an event stream. The client must accept both.",
    }
    HTTP_TOO_LARGE = "http/TOO_LARGE" {
        Exhausted, TooLarge, Caller,
        title: "the body is too large",
        detail: "the body is larger than {limit} bytes",
        hint: "send at most {limit} bytes; pass large data by reference",
        about: "The body exceeded the limit. Reading stopped and the request was not processed.",
    }
    HTTP_UNKNOWN_PATH = "http/UNKNOWN_PATH" {
        NotFound, UnknownPath, Caller,
        title: "no such path",
        hint: "see /openapi.json for the paths, or use /mcp, /rpc, /v1/tools",
        about: "The server has no route for this path.",
    }
    HTTP_SLOW_BODY = "http/SLOW_BODY" {
        Timeout, SlowBody, Caller,
        title: "the body did not arrive in time",
        detail: "the body did not arrive within {limit_s} seconds",
        hint: "send the whole body within {limit_s} seconds",
        about: "A slow body keeps a connection busy, so a body must arrive before a deadline.",
    }
    HTTP_SESSION_REQUIRED = "http/SESSION_REQUIRED" {
        Precondition, SessionRequired, Caller,
        title: "a session is required",
        hint: "send `initialize` first and repeat its Mcp-Session-Id header, or use protocol 2026-07-28, which has no sessions",
        about: "In MCP 2024-11-05 to 2025-11-25 every request after `initialize` belongs to a session.",
    }
    HTTP_SESSION_LOST = "http/SESSION_LOST" {
        NotFound, SessionLost, Caller,
        title: "no such session",
        hint: "send `initialize` again and use the new Mcp-Session-Id",
        about: "The session ended, expired, or does not belong to this caller. HTTP status 404 tells clients to start a new session.",
    }
    HTTP_BAD_VERSION_HEADER = "http/BAD_VERSION_HEADER" {
        Malformed, SessionRequired, Caller,
        title: "the MCP-Protocol-Version header names an unknown version",
        hint: "send the version that `initialize` negotiated, one of: {supported}",
        about: "The header is checked before the message is parsed.",
    }
    HTTP_TOO_MANY_SESSIONS = "http/TOO_MANY_SESSIONS" {
        Exhausted, RateLimited, Failwell,
        title: "too many sessions are open",
        detail: "more than {limit} sessions are open",
        hint: "end sessions with DELETE when done, or wait for idle ones to expire",
        about: "The number of sessions is limited, in total and per named caller (`limits.sessions_per_caller`). Idle sessions expire after a while.",
    }
    HTTP_TOO_MANY_CONNECTIONS = "http/TOO_MANY_CONNECTIONS" {
        Exhausted, RateLimited, Caller,
        title: "too many connections from this address",
        detail: "more than {limit} connections from this address are open",
        hint: "reuse connections, and close those that are not needed; the operator sets `limits.connections_per_address`",
        about: "One address may not take all connections. Its idle connections are closed first. The connection closes.",
    }
    HTTP_TOO_MANY_BODIES = "http/TOO_MANY_BODIES" {
        Exhausted, RateLimited, Caller,
        title: "too many request bodies at once",
        detail: "the caller's unfinished requests would hold more than {limit} bytes",
        hint: "send large requests one after the other; the operator sets `limits.body_mb_per_caller`",
        about: "Bodies are held in memory while they arrive and are processed. Each caller has a share of this memory. The body was not read.",
    }
    HTTP_BODIES_FULL = "http/BODIES_FULL" {
        Unavailable, Unavailable, Failwell,
        title: "the server holds too many request bodies",
        hint: "try again in a few seconds",
        about: "Bodies are held in memory while they arrive and are processed, within the limit `limits.body_mb`. The body was not read.",
    }
    HTTP_INVALID = "http/INVALID" {
        Invalid, BadParams, Caller,
        title: "the body does not match the schema of this path",
        detail: "Validation Error",
        hint: "fix every listed violation and send the request again; /openapi.json has the schema",
        about: "The body is validated against the schema in /openapi.json before the request runs. All violations are listed at once.",
    }
    HTTP_QUERY = "http/QUERY" {
        Invalid, BadParams, Caller,
        title: "the query does not match the parameters of this path",
        detail: "Validation Error",
        hint: "fix every listed violation and send the request again; /openapi.json has the parameters",
        about: "The query string is validated against /openapi.json before the request runs.",
    }
    HTTP_TOO_MANY_LISTENERS = "http/TOO_MANY_LISTENERS" {
        Exhausted, RateLimited, Failwell,
        title: "too many event listeners are connected",
        detail: "more than {limit} event listeners are connected",
        hint: "share one listener, or wait until another listener disconnects",
        about: "Every listener has its own queue, so the number of listeners is limited.",
    }
}
