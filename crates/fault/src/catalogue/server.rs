//! The request pipeline: failures while a request is served.

/// The message that the tasks server's record has for internal errors (S2 in docs/sources.md).
const INTERNAL: &str = "An internal server error occurred.";

crate::reasons! {
    pub(crate) static ROWS;

    SERVER_PANIC = "server/PANIC" {
        Bug, Bug, Failwell,
        title: "the handler stopped unexpectedly",
        session_message: INTERNAL,
        hint: "report the reference to the operator; other requests are not affected",
        about: "A handler panicked. The panic was caught, and other requests continue. The operator's log has the message, the location and the stack under the reference.",
    }
    SERVER_BUG = "server/BUG" {
        Bug, Bug, Failwell,
        title: "internal error",
        session_message: INTERNAL,
        hint: "report the reference to the operator",
        about: "The program violated one of its own invariants. The operator's log has the details under the reference.",
    }
    SERVER_OUTPUT = "server/OUTPUT" {
        Bug, Bug, Server,
        title: "the tool's result does not fit its own schema",
        session_message: INTERNAL,
        hint: "report the reference to the operator",
        about: "The tool's result does not match the output schema that the tool declares. The result was withheld.",
    }
    SERVER_TIMEOUT = "server/TIMEOUT" {
        Timeout, ToolFailed, Server,
        title: "the request took too long",
        detail: "the request took longer than {limit_s} seconds",
        hint: "ask for less, or have the operator allow more than {limit_s} seconds",
        about: "Every request has a deadline. The tool was told to stop; changes it made before that may remain.",
    }
    SERVER_CANCELLED = "server/CANCELLED" {
        Cancelled, Cancelled, Caller,
        title: "the request was cancelled",
        hint: "no action is needed",
        about: "The caller cancelled the request. In MCP a cancelled request gets no response.",
    }
    SERVER_SHUTDOWN = "server/SHUTDOWN" {
        Unavailable, Unavailable, Failwell,
        title: "the server is shutting down",
        hint: "connect again in a few seconds",
        about: "The server is stopping. Accepted requests may finish within the grace period (`--drain`); the rest is ended with this reason, and `effect` says whether the work may have begun. New requests are rejected.",
    }
    SERVER_STATE = "server/STATE" {
        Unavailable, Unavailable, Failwell,
        title: "the shared state of the nodes is not reachable",
        hint: "try again in a few seconds; if it persists, tell the operator",
        about: "Several nodes share their sessions in one store, and the store did not respond in time. Requests of MCP 2026-07-28 do not need it.",
    }
    SERVER_NODE_LOST = "server/NODE_LOST" {
        Unavailable, Unavailable, Failwell,
        title: "the node that processed the request stopped",
        hint: "check whether the request took effect, then send it again if needed",
        about: "One of several nodes stopped while it processed the request. Another node sends this response; the effect of the request is unknown.",
    }
    SERVER_SESSION_UNKNOWN = "server/SESSION_UNKNOWN" {
        NotFound, SessionLost, Caller,
        title: "no such session",
        hint: "open a session with `POST /v1/sessions`, and keep it alive with its heartbeat",
        about: "The session ended, expired, or does not belong to this caller. The response does not say which.",
    }
    SERVER_CONTEXT_UNKNOWN = "server/CONTEXT_UNKNOWN" {
        NotFound, UnknownPath, Caller,
        title: "the session context has no such key",
        hint: "use a key from `context_keys` of the session, or set the key first",
        about: "The session exists, but its context has no value for this key.",
    }
    SERVER_SESSIONS_FULL = "server/SESSIONS_FULL" {
        Exhausted, RateLimited, Failwell,
        title: "too many sessions are open",
        detail: "{limit} sessions are already open",
        hint: "end sessions that are no longer needed, or wait until some expire",
        about: "The number of sessions is limited, per caller and in total.",
    }
    SERVER_SESSION_TOO_LARGE = "server/SESSION_TOO_LARGE" {
        Exhausted, TooLarge, Caller,
        title: "the session context is too large",
        detail: "the session context would exceed {limit} bytes or {count} keys",
        hint: "store at most {limit} bytes and {count} keys; pass large data by reference",
        about: "The size of a session's context is limited. The context was not changed.",
    }
    SERVER_BUSY = "server/BUSY" {
        Exhausted, RateLimited, Failwell,
        title: "too many requests are in flight",
        detail: "more than {limit} requests are in flight",
        hint: "wait for responses before sending more; send at most {limit} requests at once",
        about: "The number of concurrent requests is limited. The request was not processed.",
    }
    SERVER_TOO_LARGE = "server/TOO_LARGE" {
        Broken, Bug, Server,
        title: "the response is too large",
        detail: "the response is larger than {limit} bytes",
        hint: "request less data",
        about: "The tool produced more data than one message may hold.",
    }
    SERVER_REQUESTED = "server/REQUESTED" {
        Invalid, ToolFailed, Caller,
        title: "the tool failed as requested",
        hint: "call the tool without asking it to fail",
        about: "This failure is produced on demand, to test how a client shows failures.",
    }
}

/// The hint for a request that had begun when the server stopped.
pub static SERVER_ENDED: crate::Advice =
    crate::Advice("check whether the request took effect, then connect again and repeat it if needed");
