//! The catalogue of failures over the wire.

use failwell_fault::{Echo, Fault, Reason, ReasonRegistry};
use failwell_sdk::{Address, ResourceContents, unknown_resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reason;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplainArguments {
    /// A reason, such as mcp/UNKNOWN_TOOL, in any case.
    #[schemars(length(min = 1, max = 100))]
    reason: String,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ExplainResult {
    /// The reason as it is written.
    reason: &'static str,
    /// The kind of failure: the action for the caller, in one word.
    kind: &'static str,
    /// The description of the failure.
    title: &'static str,
    /// What to do.
    hint: &'static str,
    /// The longer story.
    about: &'static str,
}

pub(crate) fn explain(reasons: &ReasonRegistry, given: &ExplainArguments) -> Result<ExplainResult, Fault> {
    let row = reasons.find(&given.reason).ok_or_else(|| unknown_reason(&given.reason))?;
    Ok(ExplainResult {
        reason: row.id,
        kind: row.kind.as_str(),
        title: row.title,
        hint: row.hint,
        about: row.about,
    })
}

pub(crate) fn unknown_reason(wanted: &str) -> Fault {
    Fault::new(&reason::LOBBY_UNKNOWN_REASON).fact("wanted", Echo::of_caller(wanted))
}

/// All reasons, one line each.
pub(crate) fn list_reasons(reasons: &ReasonRegistry) -> String {
    reasons.iter().map(|row| format!("{}: {}\n", row.id, row.title)).collect()
}

/// One reason as text.
pub(crate) fn read_reason(
    reasons: &ReasonRegistry,
    address: &Address,
) -> Result<Vec<ResourceContents>, Fault> {
    let part = |name: &str| address.parts.get(name).cloned().unwrap_or_default();
    let row = reasons.find(&format!("{}/{}", part("room"), part("name")));
    let row = row.ok_or_else(|| unknown_resource(&address.uri))?;
    Ok(vec![ResourceContents::text(address.uri.clone(), "text/plain", describe(row))])
}

fn describe(row: &Reason) -> String {
    format!("{}: {}\nhelp: {}\n\n{}\n", row.id, row.title, row.hint, row.about)
}

/// Reasons with this prefix.
pub(crate) fn complete_reason(reasons: &ReasonRegistry, typed: &str) -> Vec<String> {
    let typed = typed.to_ascii_lowercase();
    let begins = |row: &&Reason| row.id.to_ascii_lowercase().starts_with(&typed);
    reasons.iter().filter(begins).map(|row| row.id.to_owned()).collect()
}

/// Areas with this prefix.
pub(crate) fn complete_area(reasons: &ReasonRegistry, typed: &str) -> Vec<String> {
    let mut areas: Vec<String> = reasons.iter().map(|row| row.area().to_owned()).collect();
    areas.sort();
    areas.dedup();
    areas.retain(|area| area.starts_with(typed));
    areas
}
