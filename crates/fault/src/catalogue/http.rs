//! The door: what can be wrong before the message is read.

reasons! {
    HTTP_METHOD = "http/METHOD" {
        Unsupported, MethodNotAllowed, Caller,
        title: "HTTP method not allowed here",
        hint: "use one of: {allow}",
        about: "The path exists but not with this HTTP method; the `Allow` header lists the right ones.",
    }
    HTTP_HOST = "http/HOST" {
        Denied, ForeignOrigin, Caller,
        title: "the Host header names another host",
        hint: "connect by the address the server listens on, or start it with --allow-host",
        about: "A web page can point its own name at a local server (DNS rebinding). Only known names are served.",
    }
    HTTP_ORIGIN = "http/ORIGIN" {
        Denied, ForeignOrigin, Caller,
        title: "the Origin header names a foreign site",
        hint: "call from a page on this machine, or start the server with --allow-origin",
        about: "Browsers send Origin. A foreign one means that some web page is calling, which nobody asked for.",
    }
    HTTP_CONTENT_TYPE = "http/CONTENT_TYPE" {
        Malformed, MediaType, Caller,
        title: "the body is not application/json",
        hint: "send the header `Content-Type: application/json`",
        about: "Other types are refused: they are what a browser may send across sites without asking.",
    }
    HTTP_FORM = "http/FORM" {
        Malformed, MediaType, Caller,
        title: "the body is not multipart/form-data",
        hint: "send the parts of a form: `Content-Type: multipart/form-data`",
        about: "This path takes files, which come as parts of a form.",
    }
    HTTP_ACCEPT = "http/ACCEPT" {
        Malformed, NotAcceptable, Caller,
        title: "the client accepts nothing that can be sent",
        hint: "send `Accept: application/json, text/event-stream`",
        about: "MCP over HTTP answers with JSON or with an event stream, and the client must accept both.",
    }
    HTTP_TOO_LARGE = "http/TOO_LARGE" {
        Exhausted, TooLarge, Caller,
        title: "the body is too large",
        detail: "the body is larger than {limit} bytes",
        hint: "send at most {limit} bytes; pass large data by reference",
        about: "The body went past the cap. Reading stopped and nothing of it was done.",
    }
    HTTP_UNKNOWN_PATH = "http/UNKNOWN_PATH" {
        NotFound, UnknownPath, Caller,
        title: "no such path",
        hint: "see /openapi.json for the paths, or use /mcp, /rpc, /v1/tools",
        about: "Nothing is served at this path.",
    }
    HTTP_SLOW_BODY = "http/SLOW_BODY" {
        Timeout, SlowBody, Caller,
        title: "the body did not arrive in time",
        detail: "the body did not arrive within {limit_s} seconds",
        hint: "send the whole body within {limit_s} seconds",
        about: "A body that dribbles in holds a connection for ever, so it has a deadline.",
    }
    HTTP_SESSION_REQUIRED = "http/SESSION_REQUIRED" {
        Precondition, SessionRequired, Caller,
        title: "a session is needed",
        hint: "send `initialize` first and repeat its Mcp-Session-Id header, or use protocol 2026-07-28, which has no sessions",
        about: "In MCP 2024-11-05 to 2025-11-25 every request after `initialize` belongs to a session.",
    }
    HTTP_SESSION_LOST = "http/SESSION_LOST" {
        NotFound, SessionLost, Caller,
        title: "no such session",
        hint: "send `initialize` again and use the new Mcp-Session-Id",
        about: "The session ended, timed out, or never belonged to this caller. The HTTP status 404 tells clients to start anew.",
    }
    HTTP_BAD_VERSION_HEADER = "http/BAD_VERSION_HEADER" {
        Malformed, SessionRequired, Caller,
        title: "the MCP-Protocol-Version header names no known version",
        hint: "send the version `initialize` agreed on, one of: {supported}",
        about: "The header is checked before the message is looked at.",
    }
    HTTP_TOO_MANY_SESSIONS = "http/TOO_MANY_SESSIONS" {
        Exhausted, RateLimited, Failwell,
        title: "too many sessions are open",
        detail: "more than {limit} sessions are open",
        hint: "end sessions with DELETE when done, or wait for idle ones to expire",
        about: "The table of sessions is bounded. Idle ones make room after a while.",
    }
    HTTP_INVALID = "http/INVALID" {
        Invalid, BadParams, Caller,
        title: "the body does not fit what this path takes",
        detail: "Validation Error",
        hint: "fix every listed violation and send the request again; /openapi.json has the schema",
        about: "The body was checked against the schema in /openapi.json before anything was done. All violations are listed at once.",
    }
    HTTP_QUERY = "http/QUERY" {
        Invalid, BadParams, Caller,
        title: "the query does not fit what this path takes",
        detail: "Validation Error",
        hint: "fix every listed violation and send the request again; /openapi.json has the parameters",
        about: "What stands behind the `?` was checked against /openapi.json before anything was done.",
    }
    HTTP_TOO_MANY_LISTENERS = "http/TOO_MANY_LISTENERS" {
        Exhausted, RateLimited, Failwell,
        title: "too many listen already",
        detail: "more than {limit} listen to events already",
        hint: "share one listener, or wait until another one has hung up",
        about: "Every listener has a queue of its own, so that their number has a bound.",
    }
}
