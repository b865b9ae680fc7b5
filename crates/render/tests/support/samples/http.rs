use failwell_fault::{Fault, Retry, Rule, Violation};

use super::at;

pub(super) fn fill(reason: &str, fault: Fault) -> Option<Fault> {
    Some(match reason {
        "HOST" | "ORIGIN" | "CONTENT_TYPE" | "FORM" | "ACCEPT" | "UNKNOWN_PATH" | "SESSION_REQUIRED"
        | "SESSION_LOST" | "CONTENT_ENCODING" | "BAD_BODY" | "BAD_HEAD" | "TWO_CREDENTIALS"
        | "BODIES_FULL" => fault,
        "METHOD" => fault.fact("allow", vec!["GET", "POST", "DELETE"]),
        "TOO_LARGE" => {
            fault.fact("limit", 16_777_216usize).fact("size", 20_000_000u64).retry_as(Retry::AfterChange)
        }
        "SLOW_BODY" => fault.fact("limit_s", 30u64),
        "SLOW_HEAD" => fault.fact("limit_s", 60u64),
        "HEAD_TOO_LARGE" => fault.fact("limit", 98_304usize).retry_as(Retry::AfterChange),
        "TARGET_TOO_LONG" => fault.retry_as(Retry::AfterChange),
        "REPEATED_HEADER" => fault.fact("header", "host"),
        "TOO_MANY_CONNECTIONS" => fault.fact("limit", 2_048usize),
        "TOO_MANY_BODIES" => fault.fact("limit", 67_108_864usize),
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
