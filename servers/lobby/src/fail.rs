//! Failing on purpose.

use failwell_fault::{Fact, Fault, Kind, Reason, reason};
use failwell_server::{Context, ToolOutcome};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::explain::unknown;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fail {
    /// How to fail: a reason such as gateway/UPSTREAM_TIMEOUT.
    #[schemars(length(min = 1, max = 100))]
    #[serde(default = "on_request")]
    reason: String,
}

fn on_request() -> String {
    reason::SERVER_REQUESTED.id.to_owned()
}

pub(crate) async fn fail(given: Fail, cx: Context) -> Result<ToolOutcome, Fault> {
    let row = reason::find(&given.reason).ok_or_else(|| unknown(&given.reason))?;
    if row.kind == Kind::Cancelled {
        // A cancelled request is met with silence, which would look like a hang to whoever asked for it.
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

/// A fact for every place in the reason's sentences, so that they read as they would in earnest.
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

/// A real panic, so that its whole way to the caller is shown.
#[expect(clippy::panic, reason = "this is what was asked for")]
fn panic_on_purpose() {
    panic!("the lobby was asked to panic");
}
