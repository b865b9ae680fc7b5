//! The time everything here goes by: that of the machine, or one that is set.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// A clock that runs, shifted or not, or stands.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Clock {
    Running { ahead: SignedDuration },
    Standing(Timestamp),
}

impl Clock {
    pub(crate) const fn real() -> Clock {
        Clock::Running { ahead: SignedDuration::ZERO }
    }

    /// Now, in whole seconds, as everywhere in the service.
    pub(crate) fn now(self) -> Timestamp {
        let now = match self {
            Clock::Running { ahead } => Timestamp::now().saturating_add(ahead).unwrap_or(Timestamp::MAX),
            Clock::Standing(at) => at,
        };
        Timestamp::from_second(now.as_second()).unwrap_or(now)
    }

    pub(crate) fn advance(&mut self, by: Duration) {
        let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::MAX);
        match self {
            Clock::Running { ahead } => *ahead = ahead.saturating_add(by),
            Clock::Standing(at) => *at = at.saturating_add(by).unwrap_or(Timestamp::MAX),
        }
    }
}
