//! The catalogue, for those who ask over the wire.

use failwell_fault::{Echo, Fault, Reason, reason};
use failwell_server::{Address, Context, ResourceContents, unknown_resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Explain {
    /// A reason, such as mcp/UNKNOWN_TOOL, in any case.
    #[schemars(length(min = 1, max = 100))]
    reason: String,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Explained {
    /// The reason as it is written.
    reason: &'static str,
    /// What the caller should do, in one word.
    kind: &'static str,
    /// What is wrong.
    title: &'static str,
    /// What to do.
    hint: &'static str,
    /// The longer story.
    about: &'static str,
}

pub(crate) async fn explain(given: Explain, _cx: Context) -> Result<Explained, Fault> {
    let row = reason::find(&given.reason).ok_or_else(|| unknown(&given.reason))?;
    Ok(Explained {
        reason: row.id,
        kind: row.kind.as_str(),
        title: row.title,
        hint: row.hint,
        about: row.about,
    })
}

/// The fault for a reason nobody knows.
pub(crate) fn unknown(wanted: &str) -> Fault {
    Fault::new(&reason::LOBBY_UNKNOWN_REASON).fact("wanted", Echo::of_caller(wanted))
}

/// Every reason, one line each.
pub(crate) fn all() -> String {
    reason::all().map(|row| format!("{}: {}\n", row.id, row.title)).collect()
}

/// One reason as a text.
pub(crate) fn resource(address: &Address) -> Result<Vec<ResourceContents>, Fault> {
    let part = |name: &str| address.parts.get(name).cloned().unwrap_or_default();
    let row = reason::find(&format!("{}/{}", part("room"), part("name")));
    let row = row.ok_or_else(|| unknown_resource(&address.uri))?;
    Ok(vec![ResourceContents::text(address.uri.clone(), "text/plain", story(row))])
}

fn story(row: &Reason) -> String {
    format!("{}: {}\nhelp: {}\n\n{}\n", row.id, row.title, row.hint, row.about)
}

/// Reasons that begin so.
pub(crate) fn beginning_with(typed: &str) -> Vec<String> {
    let typed = typed.to_ascii_lowercase();
    let begins = |row: &&Reason| row.id.to_ascii_lowercase().starts_with(&typed);
    reason::all().filter(begins).map(|row| row.id.to_owned()).collect()
}

/// Rooms that begin so.
pub(crate) fn rooms_beginning_with(typed: &str) -> Vec<String> {
    let mut rooms: Vec<String> = reason::all().map(|row| row.room().to_owned()).collect();
    rooms.sort();
    rooms.dedup();
    rooms.retain(|room| room.starts_with(typed));
    rooms
}
