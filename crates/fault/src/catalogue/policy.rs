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
    POLICY_RATE_LIMITED = "policy/RATE_LIMITED" {
        Exhausted, RateLimited, Policy,
        title: "too many requests",
        hint: "wait for the time in `retry` before the next request",
        about: "The caller used up its share for now.",
    }
}
