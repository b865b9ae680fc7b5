use failwell_fault::Fault;

pub(super) fn fill(reason: &str, fault: Fault) -> Option<Fault> {
    Some(match reason {
        "NOT_JSON" => fault.fact("offset", 17usize),
        "NOT_UTF8" => fault.fact("offset", 42usize),
        "TOO_DEEP" => fault.fact("offset", 161usize).fact("limit", 128usize),
        "DUPLICATE_KEY" => fault.fact("offset", 58usize),
        "LONE_SURROGATE" => fault.fact("offset", 63usize),
        "NUMBER_RANGE" => fault.fact("offset", 71usize),
        "TOO_MANY_KEYS" => fault.fact("offset", 88_894usize).fact("limit", 10_000usize),
        "BAD_SHAPE" => fault.fact("member", "method"),
        "LINE_TOO_LONG" => fault.fact("limit", 16_777_216usize),
        "CONTENT_TYPE" | "BAD_ID" | "EMPTY_BATCH" | "BATCH_NOT_ALLOWED" | "DUPLICATE_ID" => fault,
        _ => return None,
    })
}
