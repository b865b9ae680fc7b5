use crate::{Condition, Kind, Origin};

/// One row of the catalogue: a way of failing, stable for ever.
#[derive(Debug)]
pub struct Reason {
    /// The identity, `room/NAME`.
    pub id: &'static str,
    /// What the caller should do.
    pub kind: Kind,
    /// Which row of the code table it answers by.
    pub condition: Condition,
    /// Whose doing it usually is.
    pub origin: Origin,
    /// What is wrong: lowercase, no full stop, no values.
    pub title: &'static str,
    /// What is wrong with the values filled in: `{fact}` stands for a fact. Empty: the title says it all.
    pub detail: &'static str,
    /// What to do next: imperative, names the parameter; `{fact}` stands for a fact.
    pub hint: &'static str,
    /// The longer story for the manual.
    pub about: &'static str,
}

impl Reason {
    /// The room, the part before the slash.
    pub fn room(&self) -> &'static str {
        self.id.split('/').next().unwrap_or(self.id)
    }

    /// Where the manual speaks of it.
    pub fn anchor(&self) -> String {
        self.id.to_ascii_lowercase().replace(['/', '_'], "-")
    }
}

/// A hint for one circumstance of a reason, kept with its row. Like a row it is a literal, and nothing else can be.
#[derive(Debug)]
pub struct Advice(pub(crate) &'static str);

impl PartialEq for Reason {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Reason {}
