//! Audit, configuration, child processes and the demo server.

use std::time::Duration;

use failwell_fault::{Effect, Fault, Retry};

use super::echo;

pub(super) fn fill(id: &str, fault: Fault) -> Option<Fault> {
    Some(match id {
        "audit/FAILED" => {
            fault.fact("done", "the request may have been carried out").with_effect(Effect::Unknown)
        }
        "audit/NOT_CARRIED" => fault,
        "config/INVALID" | "config/PLUGIN" | "config/UNREADABLE" => {
            fault.fact("problems", 2usize).fact("line", 14usize)
        }
        "process/SPAWN" => fault.fact("what", "the program").fact("why", "was not found"),
        "process/UNCONTAINED" | "process/ENDED" => fault,
        "lobby/UNKNOWN_REASON" => fault.fact("wanted", echo("pytest/TIMEOUTS")),
        // The reasons of a foreign crate.
        "stranger/OVEN_COLD" => fault.fact("why", "preheat was not called"),
        "stranger/MILL_CLOSED" => fault.retry_as(Retry::After(Duration::from_secs(60))),
        _ => return None,
    })
}
