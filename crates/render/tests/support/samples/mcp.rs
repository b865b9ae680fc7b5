use failwell_fault::{Effect, Fault, Origin, Retry, Rule, Violation};

use super::{at, echo, name};

pub(super) fn fill(reason: &str, fault: Fault) -> Option<Fault> {
    Some(match reason {
        "NOT_INITIALIZED"
        | "ALREADY_INITIALIZED"
        | "TOOL_NAME"
        | "BAD_CURSOR"
        | "BAD_LOG_LEVEL"
        | "BAD_STATE"
        | "INPUT_NEEDED"
        | "CLIENT_REFUSED" => fault,
        "META" => fault.fact("key", "io.modelcontextprotocol/protocolVersion"),
        "HEADER" => fault.fact("header", "Mcp-Method"),
        "VERSION" => fault.fact("supported", vec!["2026-07-28"]).fact("requested", echo("1999-12-31")),
        "UNKNOWN_METHOD" => fault.fact("method", echo("tools/cull")),
        "BAD_PARAMS" => fault
            .fact("method", echo("completion/complete"))
            .violation(Violation::new(at(&["ref"]), Rule::Required))
            .violation(Violation::new(at(&["argument", "value"]), Rule::Type).limit("string")),
        "CAPABILITY" => fault.fact("required", vec!["sampling"]),
        "UNKNOWN_TOOL" => fault.fact("name", echo("ecko")).nearest([name("echo")]),
        // A key with a slash shows the escape in the pointer.
        "BAD_ARGUMENTS" => fault
            .violation(Violation::new(at(&["text"]), Rule::Required))
            .violation(Violation::new(at(&["limits", "cpu/seconds"]), Rule::Maximum).limit(10u64))
            .violation(Violation::new(at(&["txet"]), Rule::Unknown).nearest("text")),
        "TOOL_FAILED" => {
            fault.with_effect(Effect::Unknown).retry_as(Retry::AfterChange).from_origin(Origin::Upstream)
        }
        "UNKNOWN_PROMPT" => fault.fact("name", echo("sumarize")).nearest([name("summarize")]),
        "UNKNOWN_RESOURCE" => fault.fact("uri", echo("file:///notes/\"draft\".md")),
        "BAD_INPUT" => fault.fact("key", echo("city")),
        "UNKNOWN_TASK" => fault.fact("taskId", echo("06ff2k8s1xq3m")),
        "TOO_MANY_TASKS" => fault.fact("limit", 1_000usize),
        _ => return None,
    })
}
