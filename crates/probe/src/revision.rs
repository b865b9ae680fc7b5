//! The revisions of the protocol and what divides them into two eras.

use serde::{Serialize, Serializer};

/// A published revision of MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Revision {
    /// 2024-11-05, the first.
    November2024,
    /// 2025-03-26, the only one with batches.
    March2025,
    /// 2025-06-18.
    June2025,
    /// 2025-11-25, the last with sessions.
    November2025,
    /// 2026-07-28, stateless.
    July2026,
}

impl Revision {
    /// The revisions that begin with `initialize`, newest first.
    pub(crate) const SESSION: [Self; 4] =
        [Self::November2025, Self::June2025, Self::March2025, Self::November2024];

    /// The date that names it on the wire.
    pub fn date(self) -> &'static str {
        match self {
            Self::November2024 => "2024-11-05",
            Self::March2025 => "2025-03-26",
            Self::June2025 => "2025-06-18",
            Self::November2025 => "2025-11-25",
            Self::July2026 => "2026-07-28",
        }
    }

    /// Whether it is stateless: no `initialize`, every request says what it needs.
    pub fn is_modern(self) -> bool {
        self == Self::July2026
    }

    /// `session` or `modern`.
    pub fn era(self) -> &'static str {
        if self.is_modern() { "modern" } else { "session" }
    }

    pub fn from_date(date: &str) -> Option<Self> {
        Self::SESSION.into_iter().chain([Self::July2026]).find(|revision| revision.date() == date)
    }
}

impl Serialize for Revision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.date())
    }
}
