//! The tool that fails on demand.

use failwell_fault::{Fact, Fault, Kind, Reason, ReasonRegistry, reason};
use failwell_sdk::{Context, ToolOutcome};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::explain::unknown_reason;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FailArguments {
    /// How to fail: a reason such as gateway/UPSTREAM_TIMEOUT.
    #[schemars(length(min = 1, max = 100))]
    #[serde(default = "on_request")]
    reason: String,
}

fn on_request() -> String {
    reason::SERVER_REQUESTED.id.to_owned()
}

pub(crate) fn fail(
    reasons: &ReasonRegistry,
    given: &FailArguments,
    cx: &Context,
) -> Result<ToolOutcome, Fault> {
    let row = reasons.find(&given.reason).ok_or_else(|| unknown_reason(&given.reason))?;
    if row.kind == Kind::Cancelled {
        // A cancelled request gets no response, which would look like a hang to the caller.
        return Ok(ToolOutcome::text("a cancelled request gets no answer, so there is nothing to show"));
    }
    if *row == reason::SERVER_PANIC {
        panic_on_purpose();
    }
    let fault = examples(row).into_iter().fold(Fault::new(row), |fault, (name, fact)| fault.fact(name, fact));
    Err(fault
        .note("caller", cx.client().caller.to_string())
        .note("why", "the lobby's `fail` tool was asked to"))
}

/// An example fact for every placeholder of the reason's texts.
fn examples(row: &'static Reason) -> Vec<(&'static str, Fact)> {
    let mut facts = Vec::new();
    for sentence in [row.detail, row.hint] {
        for place in sentence.split('{').skip(1).filter_map(|rest| rest.split('}').next()) {
            facts.push((place, example(place)));
        }
    }
    facts
}

fn example(place: &str) -> Fact {
    match place {
        "limit" | "limit_s" | "offset" => Fact::from(30u64),
        "required" => Fact::from(vec!["sampling"]),
        "supported" => Fact::from(vec!["2025-11-25", "2026-07-28"]),
        "setting" => Fact::from("timeout_s"),
        "server" => Fact::from("memory"),
        _ => Fact::from("example"),
    }
}

/// A real panic, so that the caller sees the complete handling of one.
#[expect(clippy::panic, reason = "this is what was asked for")]
fn panic_on_purpose() {
    panic!("the lobby was asked to panic");
}
