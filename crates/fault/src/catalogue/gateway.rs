//! The servers behind the gateway.

reasons! {
    GATEWAY_UPSTREAM_CRASHED = "gateway/UPSTREAM_CRASHED" {
        Unavailable, Upstream, Upstream,
        title: "the upstream server crashed during the call",
        hint: "try again in a few seconds; it is being restarted",
        about: "The process behind this tool ended while it was working. Exit code or signal are among the facts.",
    }
    GATEWAY_UPSTREAM_DOWN = "gateway/UPSTREAM_DOWN" {
        Unavailable, Upstream, Upstream,
        title: "the upstream server is not reachable",
        hint: "try again later, or ask the operator to look at the server",
        about: "The process could not be started, the connection could not be made or broke, or the server did not let us in. An HTTP status is among the facts.",
    }
    GATEWAY_UPSTREAM_STARTING = "gateway/UPSTREAM_STARTING" {
        Unavailable, Upstream, Upstream,
        title: "the upstream server is still starting",
        detail: "the upstream server {server} was still starting after {limit_s} seconds",
        hint: "try again after the time in `retry`; if it always needs longer, have the operator raise {setting} above {limit_s}",
        about: "A call waits for a server that is being started, for `start_timeout_s` at the most; a list waits for `list_wait_s`. A server that takes longer than `start_timeout_s` is ended, and a later call starts it again. The request never left.",
    }
    GATEWAY_UPSTREAM_TIMEOUT = "gateway/UPSTREAM_TIMEOUT" {
        Timeout, Upstream, Upstream,
        title: "the upstream server did not answer in time",
        detail: "the upstream server did not answer within {limit_s} seconds",
        hint: "ask for less, or have the operator raise {setting} above {limit_s}",
        about: "The deadline passed. The upstream was told to cancel; whether it had an effect is unknown.",
    }
    GATEWAY_UPSTREAM_GARBLED = "gateway/UPSTREAM_GARBLED" {
        Broken, Upstream, Upstream,
        title: "the upstream server answered with nonsense",
        hint: "try once more, then report the reference to the operator",
        about: "The answer was not JSON, had the wrong id, both or neither of result and error, or the wrong shape.",
    }
    GATEWAY_UPSTREAM_ERROR = "gateway/UPSTREAM_ERROR" {
        Broken, Upstream, Upstream,
        title: "the upstream server reported an error",
        hint: "check the request; the operator's log has the upstream's own words under the reference",
        about: "The upstream answered with a JSON-RPC error. Its code is a fact; its message stays with the operator, but for a scrubbed `excerpt` where the operator set trusted_errors.",
    }
    GATEWAY_ELSEWHERE = "gateway/ELSEWHERE" {
        Unavailable, Upstream, Failwell,
        title: "the call waits for its answer on another node",
        hint: "send the very same request again; it has to reach the node that asked",
        about: "A server of the session era asked something in the middle of a call, and the call waits where it was begun. Requests with its answer have to reach that node; a load balancer that keeps a client on one node does that.",
    }
    GATEWAY_CIRCUIT_OPEN = "gateway/CIRCUIT_OPEN" {
        Unavailable, Upstream, Upstream,
        title: "the upstream server failed too often and is resting",
        hint: "wait for the time in `retry` before the next request",
        about: "After repeated failures calls are answered at once instead of waiting for a server that is not well.",
    }
}
