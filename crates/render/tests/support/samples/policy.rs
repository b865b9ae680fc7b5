use std::time::Duration;

use failwell_fault::{Fault, Retry, Rule, Violation};

use super::{at, name};

pub(super) fn fill(reason: &str, fault: Fault) -> Option<Fault> {
    Some(match reason {
        "UNAUTHENTICATED" | "BAD_CREDENTIALS" | "BAD_TOKEN" | "SCOPE" | "ISSUER" | "DENIED"
        | "KEY_UNKNOWN" | "KEY_TAKEN" | "LAST_ADMIN" | "KEYS_OFF" | "KEYS_AWAY" | "APPROVAL_UNKNOWN"
        | "PIN_CHANGED" | "UNDECIDED" | "APPROVAL_HIDDEN" => fault,
        "ROLE" => fault.fact("role", "admin"),
        "KEYS_FULL" => fault.fact("limit", 10_000usize),
        // As for `BLOCKED`: the stages that make them say that other content may pass.
        "ARGUMENTS" => fault
            .retry_as(Retry::AfterChange)
            .violation(Violation::new(at(&["path"]), Rule::Pattern).limit("^/srv/"))
            .violation(Violation::new(at(&["force"]), Rule::Unknown)),
        "BLOCKED" => fault
            .retry_as(Retry::AfterChange)
            .fact("guard", "secrets")
            .fact("category", "aws_access_key")
            .fact("where", name("/params/arguments/text")),
        "APPROVAL_NEEDED" | "APPROVAL_DENIED" => fault.fact("approval", name("06ff2k8s1xq3m")),
        "APPROVAL_TOO_LARGE" => fault.fact("limit", 262_144usize).retry_as(Retry::AfterChange),
        "APPROVAL_SETTLED" => fault.fact("state", "used"),
        "GUARD_FAILED" => fault.fact("guard", name("no-dates")).fact("why", "it did not answer in time"),
        "RATE_LIMITED" => {
            fault.fact("exceeded", "tool_rate").retry_as(Retry::After(Duration::from_millis(1_500)))
        }
        _ => return None,
    })
}
