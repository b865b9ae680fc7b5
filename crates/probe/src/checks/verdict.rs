//! Verdicts of checks, and their weights.

use serde::Serialize;

/// How strongly the rule behind a check binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The specification, or plain survival, demands it. Weighs 3.
    Must,
    /// Recommended by the specification or by good manners. Weighs 1.
    Should,
    /// Something private came out. Weighs 5.
    Leak,
}

impl Level {
    /// The weight in the score.
    pub fn weight(self) -> u32 {
        match self {
            Self::Must => 3,
            Self::Should => 1,
            Self::Leak => 5,
        }
    }
}

/// The conclusion of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// As it should be.
    Held {
        /// Something worth knowing that costs nothing.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// The demand held, a recommendation inside it did not: costs one point, or half of a SHOULD.
    Short {
        /// The missing recommendation.
        why: String,
    },
    /// Not as it should be.
    Broken {
        /// The observed behaviour.
        why: String,
    },
    /// The check says nothing about this server.
    NotApplicable { why: String },
}

impl Verdict {
    pub(crate) const HELD: Self = Self::Held { note: None };

    pub(crate) fn noted(note: impl Into<String>) -> Self {
        Self::Held { note: Some(note.into()) }
    }

    pub(crate) fn short(why: impl Into<String>) -> Self {
        Self::Short { why: why.into() }
    }

    pub(crate) fn broken(why: impl Into<String>) -> Self {
        Self::Broken { why: why.into() }
    }

    pub(crate) fn not_applicable(why: impl Into<String>) -> Self {
        Self::NotApplicable { why: why.into() }
    }

    /// The problem, if there is one.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Held { .. } => None,
            Self::Short { why } | Self::Broken { why } | Self::NotApplicable { why } => Some(why),
        }
    }

    /// Half points won and at stake, for a check of this level; none when it does not apply.
    pub fn half_points(&self, level: Level) -> Option<(u32, u32)> {
        let whole = level.weight() * 2;
        match self {
            Self::Held { .. } => Some((whole, whole)),
            Self::Short { .. } => Some((whole - (whole / 2).min(2), whole)),
            Self::Broken { .. } => Some((0, whole)),
            Self::NotApplicable { .. } => None,
        }
    }
}
