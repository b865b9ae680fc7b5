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
    POLICY_ROLE = "policy/ROLE" {
        Denied, NotAllowed, Policy,
        title: "the key does not have the role this needs",
        detail: "this needs the role {role}",
        hint: "use a key with the role {role}; an admin can make one",
        about: "Keys have roles: an admin may do what a developer may, and a developer what a user may.",
    }
    POLICY_KEY_UNKNOWN = "policy/KEY_UNKNOWN" {
        NotFound, UnknownPath, Caller,
        title: "no such key",
        hint: "look at `GET /v1/keys` for those there are; keys of the configuration change with its file",
        about: "No key of this id was made over HTTP, or it has been taken back or has expired.",
    }
    POLICY_KEY_TAKEN = "policy/KEY_TAKEN" {
        Precondition, NotReady, Caller,
        title: "another key has this name",
        hint: "choose another `name`, or take the other key back first",
        about: "A caller is known by the name of its key, in rules and in the ledger, so that no two keys share one.",
    }
    POLICY_LAST_ADMIN = "policy/LAST_ADMIN" {
        Precondition, NotReady, Caller,
        title: "this is the last key of an admin",
        hint: "make another key with the role admin first",
        about: "Without it nobody could make keys any more.",
    }
    POLICY_KEYS_OFF = "policy/KEYS_OFF" {
        Precondition, NotReady, Failwell,
        title: "this server asks nobody for a key",
        hint: "set `require_key = true` in the configuration first, or add a [[key]]",
        about: "A key would open nothing while the door is open to everybody on this machine.",
    }
    POLICY_KEYS_AWAY = "policy/KEYS_AWAY" {
        Unavailable, Unavailable, Failwell,
        title: "keys cannot be checked or changed now",
        hint: "try again later; if it lasts, tell the operator the reference",
        about: "The file of keys that were made while the program runs cannot be read or written, and nothing opens while nobody can say whose a key is. Keys of the configuration are not affected. The log says what is wrong with the file.",
    }
    POLICY_KEYS_FULL = "policy/KEYS_FULL" {
        Exhausted, RateLimited, Failwell,
        title: "there are too many keys",
        detail: "there are {limit} keys already",
        hint: "take keys back that nobody uses, or use tokens",
        about: "Keys that are made while the program runs are bounded in number, so that nobody can fill the disk with them.",
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
    POLICY_APPROVAL_NEEDED = "policy/APPROVAL_NEEDED" {
        Precondition, ToolFailed, Policy,
        title: "a person has to approve this call",
        detail: "a person has to approve this call: approval {approval} is waiting for an answer",
        hint: "ask your operator to run `failwell approve {approval}`, then repeat the very same call once",
        about: "A rule of the operator wants a person's yes before this tool runs. The yes is for this tool, caller and arguments alone, can be used once, and expires. Nothing was called.",
    }
    POLICY_APPROVAL_DENIED = "policy/APPROVAL_DENIED" {
        Denied, NotAllowed, Policy,
        title: "a person said no to this call",
        detail: "a person said no to this call (approval {approval})",
        hint: "do not repeat it; ask your operator what would be allowed instead",
        about: "The operator was asked about this very call and declined. What was said is an `excerpt` where something was. Nothing was called.",
    }
    POLICY_APPROVAL_TOO_LARGE = "policy/APPROVAL_TOO_LARGE" {
        Exhausted, TooLarge, Policy,
        title: "arguments are too large for a person to approve",
        detail: "arguments have more than {limit} bytes, which is too large for a person to approve",
        hint: "send at most {limit} bytes of arguments",
        about: "Whoever approves a call must be able to read all of it.",
    }
    POLICY_APPROVAL_UNKNOWN = "policy/APPROVAL_UNKNOWN" {
        NotFound, UnknownPath, Caller,
        title: "no such approval",
        hint: "look at `GET /v1/approvals` for those that wait",
        about: "No question of this id was asked, or it is so old that it is forgotten.",
    }
    POLICY_APPROVAL_SETTLED = "policy/APPROVAL_SETTLED" {
        Precondition, NotReady, Caller,
        title: "this approval needs no answer any more",
        detail: "this approval needs no answer any more: it is {state}",
        hint: "look at `GET /v1/approvals` for those that wait",
        about: "It was answered already, or nobody answered in time.",
    }
    POLICY_PIN_CHANGED = "policy/PIN_CHANGED" {
        Precondition, ToolFailed, Policy,
        title: "the tool is held until its operator has looked at it",
        detail: "the definition of this tool is not one its operator knows, so that it is held",
        hint: "use another tool; ask your operator to look at `failwell pin diff` and to run `failwell pin approve`",
        about: "What a server says of a tool or prompt is not what it said when it was first seen or last approved, or the tool is new and new ones are held. It is in no list and is not called until `failwell pin approve`. The ledger has the difference.",
    }
    POLICY_UNDECIDED = "policy/UNDECIDED" {
        Unavailable, Unavailable, Failwell,
        title: "the operator's decisions cannot be read or written now",
        hint: "try again later; if it lasts, tell the operator the reference",
        about: "What needs a person's yes does not run while nobody can say whether there is one. The log says what is wrong with the file.",
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
