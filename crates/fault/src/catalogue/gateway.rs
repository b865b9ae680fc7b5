//! Upstream servers.

crate::reasons! {
    pub(crate) static ROWS;

    GATEWAY_UPSTREAM_CRASHED = "gateway/UPSTREAM_CRASHED" {
        Unavailable, Upstream, Upstream,
        title: "the upstream server crashed during the call",
        hint: "try again in a few seconds; the server is being restarted",
        about: "The process of the upstream server exited during the call. The facts have the exit code or the signal.",
    }
    GATEWAY_UPSTREAM_DOWN = "gateway/UPSTREAM_DOWN" {
        Unavailable, Upstream, Upstream,
        title: "the upstream server is not available",
        hint: "try again later, or ask the operator to check the server",
        about: "The process could not be started, the connection failed, the server refused access, or it was ended because it was stuck. The facts have the HTTP status, if there is one.",
    }
    GATEWAY_UPSTREAM_STARTING = "gateway/UPSTREAM_STARTING" {
        Unavailable, Upstream, Upstream,
        title: "the upstream server is still starting",
        detail: "the upstream server {server} was still starting after {limit_s} seconds",
        hint: "try again later, this failure says when; if it always needs longer, have the operator raise {setting} above {limit_s}",
        about: "A call waits up to `start_timeout_s` for a server that is starting, and a list waits up to `list_wait_s`. A server that needs more than `start_timeout_s` is stopped, and a later call starts it again. The request was not sent.",
    }
    GATEWAY_UPSTREAM_TIMEOUT = "gateway/UPSTREAM_TIMEOUT" {
        Timeout, Upstream, Upstream,
        title: "the upstream server did not answer in time",
        detail: "the upstream server did not answer within {limit_s} seconds",
        hint: "ask for less, or have the operator raise {setting} above {limit_s}",
        about: "The deadline passed. The upstream was told to cancel the call; the effect of the call is unknown.",
    }
    GATEWAY_UPSTREAM_GARBLED = "gateway/UPSTREAM_GARBLED" {
        Broken, Upstream, Upstream,
        title: "the upstream server sent an invalid response",
        hint: "try once more, then report the reference to the operator",
        about: "The response was not JSON, had the wrong id or shape, or had both or neither of `result` and `error`.",
    }
    GATEWAY_UPSTREAM_ERROR = "gateway/UPSTREAM_ERROR" {
        Broken, Upstream, Upstream,
        title: "the upstream server reported an error",
        hint: "check the request; the operator's log has the upstream's message under the reference",
        about: "The upstream responded with a JSON-RPC error. Its code is a fact, and its message is in the operator's log. With `trusted_errors` the caller gets a scrubbed `excerpt` of the message.",
    }
    GATEWAY_ELSEWHERE = "gateway/ELSEWHERE" {
        Unavailable, Upstream, Failwell,
        title: "the call is pending on another node",
        hint: "send the same request again; it must reach the node that has the call",
        about: "The request is about a task, or answers a question that an upstream server with sessions asked during a call. Such work stays on one node, and the request reached another. Repeated requests reach the right node in turn, or at once through a load balancer with sticky sessions.",
    }
    GATEWAY_CIRCUIT_OPEN = "gateway/CIRCUIT_OPEN" {
        Unavailable, Upstream, Upstream,
        title: "the circuit breaker of the upstream server is open",
        hint: "wait before the next request; this failure says how long",
        about: "After repeated failures the circuit breaker opens. Calls then fail at once instead of waiting for the server.",
    }
}
