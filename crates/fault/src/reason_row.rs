use crate::{Condition, Kind, Origin};

/// One row of the catalogue. Its id is stable across versions.
#[derive(Debug)]
pub struct Reason {
    /// The id, `area/NAME`.
    pub id: &'static str,
    /// The action that it asks of the caller.
    pub kind: Kind,
    /// The row of the code table.
    pub condition: Condition,
    /// The usual origin.
    pub origin: Origin,
    /// The problem: lowercase, no full stop, no values.
    pub title: &'static str,
    /// The problem with its values; `{fact}` is replaced by a fact. If empty, the title is used.
    pub detail: &'static str,
    /// The fixed message of the JSON-RPC error in MCP's session era, outside of tool calls, if a published
    /// contract requires one. If empty, the detail is used.
    pub session_message: &'static str,
    /// The next step: imperative, names the parameter; `{fact}` is replaced by a fact.
    pub hint: &'static str,
    /// The explanation in the manual.
    pub about: &'static str,
}

impl Reason {
    /// The part of the id before the slash: the server or the part of the program.
    pub fn area(&self) -> &'static str {
        self.id.split('/').next().unwrap_or(self.id)
    }

    /// The anchor in `docs/errors.md`.
    pub fn anchor(&self) -> String {
        self.id.to_ascii_lowercase().replace(['/', '_'], "-")
    }
}

/// A hint for one circumstance of a reason, declared next to its row. Like a row it can only be a literal.
#[derive(Debug)]
pub struct Advice(pub(crate) &'static str);

impl PartialEq for Reason {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Reason {}
