use failwell_fault::{Fault, Retry, Rule, Violation};

use super::at;

pub(super) fn fill(reason: &str, fault: Fault) -> Option<Fault> {
    Some(match reason {
        "HOST" | "ORIGIN" | "CONTENT_TYPE" | "FORM" | "ACCEPT" | "UNKNOWN_PATH" | "SESSION_REQUIRED"
        | "SESSION_LOST" => fault,
        "METHOD" => fault.fact("allow", vec!["GET", "POST", "DELETE"]),
        "TOO_LARGE" => {
            fault.fact("limit", 16_777_216usize).fact("size", 20_000_000u64).retry_as(Retry::AfterChange)
        }
        "SLOW_BODY" => fault.fact("limit_s", 30u64),
        "BAD_VERSION_HEADER" => fault
            .fact("supported", vec!["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]),
        "TOO_MANY_SESSIONS" => fault.fact("limit", 10_000usize),
        "TOO_MANY_LISTENERS" => fault.fact("limit", 64usize),
        "INVALID" => fault
            .violation(Violation::new(at(&["name"]), Rule::Required))
            .violation(Violation::new(at(&["roles", "0"]), Rule::Choice).limit(vec!["admin", "developer"])),
        "QUERY" => fault
            .violation(Violation::new(at(&["limit"]), Rule::Maximum).limit(1_000u64))
            .violation(Violation::new(at(&["failed"]), Rule::Choice).limit(vec!["true", "false"])),
        _ => return None,
    })
}
