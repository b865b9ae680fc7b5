//! Policy: what a caller may not do.

crate::reasons! {
    pub(crate) static ROWS;

    POLICY_UNAUTHENTICATED = "policy/UNAUTHENTICATED" {
        Unauthenticated, Credentials, Caller,
        title: "credentials are missing",
        detail: "API key required",
        hint: "send `Authorization: Bearer <key>` or `X-API-Key: <key>`",
        about: "The server requires a key, and the request has none.",
    }
    POLICY_BAD_CREDENTIALS = "policy/BAD_CREDENTIALS" {
        Unauthenticated, Credentials, Caller,
        title: "credentials are wrong",
        detail: "Invalid API key",
        hint: "check the key; ask the operator for a new one if it was revoked",
        about: "The key is unknown or revoked. The response does not say which.",
    }
    POLICY_BAD_TOKEN = "policy/BAD_TOKEN" {
        Unauthenticated, Credentials, Caller,
        title: "token is not accepted",
        hint: "get a new token for this server and send it as `Authorization: Bearer <token>`",
        about: "The token has expired, is for another server, is from another issuer, or has a wrong signature. Only the log says which.",
    }
    POLICY_SCOPE = "policy/SCOPE" {
        Denied, InsufficientScope, Caller,
        title: "the token lacks a required scope",
        hint: "get a token with the scopes named in `WWW-Authenticate`",
        about: "The token is valid, but lacks a scope that this server requires.",
    }
    POLICY_ISSUER = "policy/ISSUER" {
        Unavailable, Unavailable, Failwell,
        title: "tokens cannot be checked now",
        hint: "try again later; if it persists, report the reference to the operator",
        about: "The issuer's keys cannot be read, so tokens cannot be checked. The log has the cause.",
    }
    POLICY_DENIED = "policy/DENIED" {
        Denied, NotAllowed, Policy,
        title: "not allowed",
        hint: "ask the operator for permission",
        about: "A rule of the operator denies the request to this caller.",
    }
    POLICY_ROLE = "policy/ROLE" {
        Denied, NotAllowed, Policy,
        title: "the key lacks the required role",
        detail: "the request requires the role {role}",
        hint: "use a key with the role {role}; an admin can create one",
        about: "Roles are ordered. An admin has all rights of a developer, and a developer has all rights of a user.",
    }
    POLICY_KEY_UNKNOWN = "policy/KEY_UNKNOWN" {
        NotFound, UnknownPath, Caller,
        title: "no such key",
        hint: "use an id from `GET /v1/keys`; keys of the configuration are changed in its file",
        about: "No key with this id was created over HTTP, or the key was revoked or has expired.",
    }
    POLICY_KEY_TAKEN = "policy/KEY_TAKEN" {
        Precondition, NotReady, Caller,
        title: "another key has this name",
        hint: "choose another `name`, or revoke the other key first",
        about: "Rules and the ledger identify a caller by the name of its key, so names are unique.",
    }
    POLICY_LAST_ADMIN = "policy/LAST_ADMIN" {
        Precondition, NotReady, Caller,
        title: "this is the last admin key",
        hint: "create another key with the role admin first",
        about: "Without an admin key, no more keys could be created.",
    }
    POLICY_KEYS_OFF = "policy/KEYS_OFF" {
        Precondition, NotReady, Failwell,
        title: "this server does not require keys",
        hint: "set `require_key = true` in the configuration first, or add a [[key]]",
        about: "A key has no effect while the server accepts requests without one.",
    }
    POLICY_KEYS_AWAY = "policy/KEYS_AWAY" {
        Unavailable, Unavailable, Failwell,
        title: "keys cannot be checked or changed now",
        hint: "try again later; if it persists, report the reference to the operator",
        about: "The file of keys that were created at run time cannot be read or written. Such keys are rejected meanwhile; keys of the configuration still work. The log has the cause.",
    }
    POLICY_KEYS_FULL = "policy/KEYS_FULL" {
        Exhausted, RateLimited, Failwell,
        title: "too many keys exist",
        detail: "{limit} keys already exist",
        hint: "revoke keys that are no longer used, or use tokens",
        about: "The number of keys that were created at run time is limited.",
    }
    POLICY_ARGUMENTS = "policy/ARGUMENTS" {
        Denied, NotAllowed, Policy,
        title: "arguments not allowed",
        detail: "the operator's rules do not allow these arguments",
        hint: "change the arguments that this failure lists, or ask the operator for permission",
        about: "The tool accepts these arguments, but a rule of the operator does not.",
    }
    POLICY_BLOCKED = "policy/BLOCKED" {
        Denied, Blocked, Policy,
        title: "blocked by content policy",
        detail: "blocked by content policy: {guard} found {category} at {where}",
        hint: "remove the content named above and send the request again",
        about: "A content guard blocked the message. The fault names the guard, the category and the location, never the content.",
    }
    POLICY_APPROVAL_NEEDED = "policy/APPROVAL_NEEDED" {
        Precondition, ToolFailed, Policy,
        title: "this call requires human approval",
        detail: "this call requires human approval: approval {approval} is pending",
        hint: "ask your operator to run `failwell approve {approval}`, then repeat the same call once",
        about: "A rule of the operator requires approval before this tool runs. An approval covers one tool, caller and set of arguments, can be used once, and expires. The tool was not called.",
    }
    POLICY_APPROVAL_DENIED = "policy/APPROVAL_DENIED" {
        Denied, NotAllowed, Policy,
        title: "the operator denied this call",
        detail: "the operator denied this call (approval {approval})",
        hint: "do not repeat the call; ask your operator which calls are allowed",
        about: "The operator reviewed this call and denied it. The operator's comment, if there is one, is the `excerpt`. The tool was not called.",
    }
    POLICY_APPROVAL_TOO_LARGE = "policy/APPROVAL_TOO_LARGE" {
        Exhausted, TooLarge, Policy,
        title: "arguments are too large for approval",
        detail: "arguments have more than {limit} bytes, which is too large for approval",
        hint: "send at most {limit} bytes of arguments",
        about: "The operator must be able to read the whole call before approving it.",
    }
    POLICY_APPROVAL_HIDDEN = "policy/APPROVAL_HIDDEN" {
        Invalid, BadParams, Policy,
        title: "arguments contain text that an approver cannot be shown",
        hint: "send secrets by reference, and other text readable: not encoded together with a secret",
        about: "An approver sees everything that is approved. Secrets are replaced by their kind, length and hash. A replaced text of several lines or of more than 256 bytes, or an encoded text that cannot be shown decoded, could hide more than a secret, so the call is refused.",
    }
    POLICY_APPROVAL_UNKNOWN = "policy/APPROVAL_UNKNOWN" {
        NotFound, UnknownPath, Caller,
        title: "no such approval",
        hint: "use an id from `GET /v1/approvals`, which lists pending approvals",
        about: "No approval with this id exists, or it is so old that it was removed.",
    }
    POLICY_APPROVAL_SETTLED = "policy/APPROVAL_SETTLED" {
        Precondition, NotReady, Caller,
        title: "this approval is no longer pending",
        detail: "this approval is no longer pending: it is {state}",
        hint: "use an id from `GET /v1/approvals`, which lists pending approvals",
        about: "The operator already decided, or the approval expired.",
    }
    POLICY_PIN_CHANGED = "policy/PIN_CHANGED" {
        Precondition, ToolFailed, Policy,
        title: "the tool is quarantined until the operator approves it",
        detail: "the definition of this tool is new or has changed, so the tool is quarantined",
        hint: "use another tool; ask your operator to check `failwell pin diff` and to run `failwell pin approve`",
        about: "The definition of a tool or prompt differs from the approved one, or the tool is new and new tools are quarantined. A quarantined tool is not listed and not called until `failwell pin approve`. The ledger has the difference.",
    }
    POLICY_UNDECIDED = "policy/UNDECIDED" {
        Unavailable, Unavailable, Failwell,
        title: "the operator's decisions cannot be read or written now",
        hint: "try again later; if it persists, report the reference to the operator",
        about: "A call that needs approval does not run while approvals cannot be read. The log has the cause.",
    }
    POLICY_GUARD_FAILED = "policy/GUARD_FAILED" {
        Unavailable, Unavailable, Policy,
        title: "a guard gave no verdict",
        detail: "the guard {guard} gave no verdict: {why}",
        hint: "try again later; if it persists, report the reference to the operator",
        about: "A custom guard crashed, timed out or returned an invalid verdict, or a large message was not inspected in time, so the message is blocked. The log has the cause. With `critical = false` such messages pass.",
    }
    POLICY_RATE_LIMITED = "policy/RATE_LIMITED" {
        Exhausted, RateLimited, Policy,
        title: "too many requests",
        hint: "wait before the next request; this failure says how long",
        about: "The caller exceeded one of its limits.",
    }
}

/// The hint for a response of finished work that no guard has judged.
pub static POLICY_UNJUDGED_ANSWER: crate::Advice = crate::Advice(
    "do not repeat the request: its work was done, and only the response was withheld; report the reference to the operator",
);

/// The hint for a blocked response: other arguments would not help.
pub static POLICY_BLOCKED_ANSWER: crate::Advice = crate::Advice(
    "continue without the response, which was withheld: the same request gives the same result; report the reference to the operator",
);
