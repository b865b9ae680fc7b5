//! The guard: what a caller may not do.

reasons! {
    POLICY_UNAUTHENTICATED = "policy/UNAUTHENTICATED" {
        Unauthenticated, Credentials, Caller,
        title: "credentials are missing",
        detail: "API key required",
        hint: "send `Authorization: Bearer <key>` or `X-API-Key: <key>`",
        about: "The server asks for a key and the request has none.",
    }
    POLICY_BAD_CREDENTIALS = "policy/BAD_CREDENTIALS" {
        Unauthenticated, Credentials, Caller,
        title: "credentials are wrong",
        detail: "Invalid API key",
        hint: "check the key; ask the operator for a new one if it was revoked",
        about: "The key is unknown or revoked. The answer does not say which.",
    }
    POLICY_BAD_TOKEN = "policy/BAD_TOKEN" {
        Unauthenticated, Credentials, Caller,
        title: "token is not accepted",
        hint: "get a fresh token for this server and send it as `Authorization: Bearer <token>`",
        about: "The token is expired, not for this server, by another issuer, or wrongly signed. The answer does not say which; the log does.",
    }
    POLICY_SCOPE = "policy/SCOPE" {
        Denied, InsufficientScope, Caller,
        title: "token does not allow enough",
        hint: "get a token with the scopes named in `WWW-Authenticate`",
        about: "The token is right, but lacks a scope that this server asks for.",
    }
    POLICY_ISSUER = "policy/ISSUER" {
        Unavailable, Unavailable, Failwell,
        title: "tokens cannot be checked now",
        hint: "try again later; if it lasts, tell the operator the reference",
        about: "The keys of the issuer cannot be read, so that no token can be checked. The log says why.",
    }
    POLICY_DENIED = "policy/DENIED" {
        Denied, NotAllowed, Policy,
        title: "not allowed",
        hint: "ask the operator for permission",
        about: "A rule of the operator says no for this caller.",
    }
    POLICY_ARGUMENTS = "policy/ARGUMENTS" {
        Denied, NotAllowed, Policy,
        title: "arguments not allowed",
        detail: "the operator's rules do not allow these arguments",
        hint: "change the arguments named in `violations`, or ask the operator for permission",
        about: "The tool would take these arguments; a rule of the operator does not.",
    }
    POLICY_BLOCKED = "policy/BLOCKED" {
        Denied, Blocked, Policy,
        title: "blocked by content policy",
        detail: "blocked by content policy: {guard} found {category} at {where}",
        hint: "remove the content named above and send the request again",
        about: "A content guard found something that may not pass. The fault names guard, category and place, never the content.",
    }
    POLICY_GUARD_FAILED = "policy/GUARD_FAILED" {
        Unavailable, Unavailable, Policy,
        title: "a guard gave no verdict",
        detail: "the guard {guard} gave no verdict: {why}",
        hint: "try again later; if it lasts, tell the operator the reference",
        about: "A guard the operator wrote crashed, took too long or gave no proper verdict, and nothing may pass without it. The log says why; with `critical = false` such messages pass.",
    }
    POLICY_RATE_LIMITED = "policy/RATE_LIMITED" {
        Exhausted, RateLimited, Policy,
        title: "too many requests",
        hint: "wait for the time in `retry` before the next request",
        about: "The caller used up its share for now.",
    }
}

/// What to do when it was the answer that was blocked: other arguments are not what is asked for.
pub static POLICY_BLOCKED_ANSWER: crate::Advice = crate::Advice(
    "the answer was held back, and asking again gives the same; go on without it, or tell the operator the reference",
);
