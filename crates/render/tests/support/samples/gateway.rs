use std::time::Duration;

use failwell_fault::{Effect, Fault, Retry};

use super::name;

pub(super) fn fill(reason: &str, fault: Fault) -> Option<Fault> {
    Some(match reason {
        "UPSTREAM_STARTING" => fault
            .fact("server", name("memory"))
            .fact("limit_s", 30u64)
            .fact("setting", "start_timeout_s")
            .retry_as(Retry::After(Duration::from_secs(2))),
        "UPSTREAM_CRASHED" => fault.fact("exit_code", 1).with_effect(Effect::Unknown),
        "UPSTREAM_DOWN" => fault.fact("status", 503u64),
        "UPSTREAM_TIMEOUT" => {
            fault.fact("limit_s", 60u64).fact("setting", "timeout_s").with_effect(Effect::Unknown)
        }
        "UPSTREAM_GARBLED" => fault.fact("status", 200u64).with_effect(Effect::Unknown),
        "UPSTREAM_ERROR" => fault.fact("upstream_code", -32_000i64).with_effect(Effect::Unknown),
        "ELSEWHERE" => fault.retry_as(Retry::After(Duration::from_secs(1))).with_effect(Effect::None),
        "CIRCUIT_OPEN" => fault.retry_as(Retry::After(Duration::from_secs(8))),
        _ => return None,
    })
}
