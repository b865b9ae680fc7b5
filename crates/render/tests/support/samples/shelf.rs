use std::time::Duration;

use failwell_fault::{Fault, Retry};

use super::echo;

pub(super) fn fill(reason: &str, fault: Fault) -> Option<Fault> {
    Some(match reason {
        "BAD_MULTIPART" | "CUT_OFF" | "DISK_FULL" | "TROUBLE" => fault,
        "BAD_URI" => fault.fact("uri", echo("resource:/report")),
        "BAD_NAME" => fault.fact("what", "file name").fact("name", echo("../report.pdf")),
        "METADATA" => fault.fact("size", 70_000usize).fact("limit", 16_384usize),
        "TOO_LARGE" => {
            fault.fact("size", 80_000_000u64).fact("limit", 67_108_864u64).retry_as(Retry::AfterChange)
        }
        "FULL" | "SHARE_FULL" => fault
            .fact("size", 50_000_000u64)
            .fact("free", 12_000_000u64)
            .fact("limit", 1_073_741_824u64)
            .retry_as(Retry::After(Duration::from_secs(60))),
        "CROWDED" | "SHARE_CROWDED" => fault
            .fact("count", 10_000u64)
            .fact("limit", 10_000u64)
            .retry_as(Retry::After(Duration::from_secs(60))),
        "RANGE" => fault.fact("size", 4_096u64),
        _ => return None,
    })
}
