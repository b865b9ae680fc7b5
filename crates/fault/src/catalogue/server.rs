//! The corridor: what can happen while a request is being served.

reasons! {
    SERVER_PANIC = "server/PANIC" {
        Bug, Bug, Failwell,
        title: "the handler stopped unexpectedly",
        hint: "report the reference to the operator; other requests are not affected",
        about: "A handler panicked. The panic was caught, this request was answered, and the server went on. The operator's log has the message, the place and the stack under the reference.",
    }
    SERVER_BUG = "server/BUG" {
        Bug, Bug, Failwell,
        title: "internal error",
        hint: "report the reference to the operator",
        about: "Something that cannot happen did. The operator's log has the whole story under the reference.",
    }
    SERVER_OUTPUT = "server/OUTPUT" {
        Bug, Bug, Server,
        title: "the tool's result does not fit its own schema",
        hint: "report the reference to the operator",
        about: "A tool that promises an output schema must keep to it; the result was held back rather than passed on wrong.",
    }
    SERVER_TIMEOUT = "server/TIMEOUT" {
        Timeout, ToolFailed, Server,
        title: "the request took too long",
        detail: "the request took longer than {limit_s} seconds",
        hint: "ask for less, or have the operator allow more than {limit_s} seconds",
        about: "Every request has a deadline. The work was told to stop; what it did until then may stand.",
    }
    SERVER_CANCELLED = "server/CANCELLED" {
        Cancelled, Cancelled, Caller,
        title: "the request was cancelled",
        hint: "nothing to do",
        about: "The caller called it off. MCP asks for silence; plain HTTP callers who cancel are gone.",
    }
    SERVER_SHUTDOWN = "server/SHUTDOWN" {
        Unavailable, Unavailable, Failwell,
        title: "the server is shutting down",
        hint: "connect again in a few seconds",
        about: "The server was told to stop. Requests it had accepted are answered; new ones are turned away.",
    }
    SERVER_STATE = "server/STATE" {
        Unavailable, Unavailable, Failwell,
        title: "the state the nodes share is not reachable",
        hint: "try again in a few seconds, or tell the operator",
        about: "Several nodes keep sessions in one place, so that any of them can answer, and that place did not answer in time. Requests of the modern era do not need it.",
    }
    SERVER_NODE_LOST = "server/NODE_LOST" {
        Unavailable, Unavailable, Failwell,
        title: "the node that worked on the request is gone",
        hint: "find out what was done, then send the request again if need be",
        about: "One of several nodes stopped while it worked. Another one says so in its place; how far the work got is not known.",
    }
    SERVER_SESSION_UNKNOWN = "server/SESSION_UNKNOWN" {
        NotFound, SessionLost, Caller,
        title: "no such session",
        hint: "open one with `POST /v1/sessions`, and keep it with its heartbeat",
        about: "The session ended, its time ran out, or it never belonged to this caller. The answer does not say which.",
    }
    SERVER_CONTEXT_UNKNOWN = "server/CONTEXT_UNKNOWN" {
        NotFound, UnknownPath, Caller,
        title: "nothing is kept under this key",
        hint: "use a key that `context_keys` of the session has, or put something there first",
        about: "The session is there, but nothing was put under this key of its context.",
    }
    SERVER_SESSIONS_FULL = "server/SESSIONS_FULL" {
        Exhausted, RateLimited, Failwell,
        title: "too many sessions are open",
        detail: "{limit} sessions are open already",
        hint: "end sessions that are not needed, or wait until their time runs out",
        about: "The number of sessions of one caller has a bound, and that of all of them.",
    }
    SERVER_SESSION_TOO_LARGE = "server/SESSION_TOO_LARGE" {
        Exhausted, TooLarge, Caller,
        title: "the session would hold too much",
        detail: "the session would hold more than {limit} bytes or {count} keys of context",
        hint: "keep at most {limit} bytes and {count} keys; pass large data by reference",
        about: "What a session keeps has a bound. Nothing was changed.",
    }
    SERVER_BUSY = "server/BUSY" {
        Exhausted, RateLimited, Failwell,
        title: "too many requests are in flight",
        detail: "more than {limit} requests are in flight",
        hint: "wait for answers before sending more, at most {limit} at once",
        about: "Every queue has a bound. This one is full; nothing was done.",
    }
    SERVER_TOO_LARGE = "server/TOO_LARGE" {
        Broken, Bug, Server,
        title: "the answer is too large",
        detail: "the answer is larger than {limit} bytes",
        hint: "ask for less",
        about: "The tool produced more than the cap on one message.",
    }
    SERVER_REQUESTED = "server/REQUESTED" {
        Invalid, ToolFailed, Caller,
        title: "the tool failed because it was asked to",
        hint: "call the tool without asking it to fail",
        about: "A harmless failure on demand, for trying out how a client shows failures.",
    }
}
