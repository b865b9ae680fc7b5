use failwell_fault::{Effect, Fault, Retry};

pub(super) fn fill(reason: &str, fault: Fault) -> Option<Fault> {
    Some(match reason {
        "PANIC" | "BUG" | "OUTPUT" | "CANCELLED" | "SHUTDOWN" | "STATE" | "SESSION_UNKNOWN"
        | "CONTEXT_UNKNOWN" | "REQUESTED" => fault,
        "TIMEOUT" => fault.fact("limit_s", 300u64).with_effect(Effect::Unknown),
        "SESSIONS_FULL" => fault.fact("limit", 10_000usize),
        "SESSION_TOO_LARGE" => {
            fault.fact("limit", 262_144usize).fact("count", 64usize).retry_as(Retry::AfterChange)
        }
        "BUSY" => fault.fact("limit", 4_096usize),
        "TOO_LARGE" => fault.fact("limit", 16_777_216usize),
        "NODE_LOST" => fault.with_effect(Effect::Unknown),
        _ => return None,
    })
}
