//! Exponential back-off with jitter: how long to wait before the next attempt.
//!
//! A [`Backoff`] has no state. The caller counts its failures in a row, decides how many are enough, and sleeps: some callers share
//! the count, some stop waiting when work arrives, and some are told by the peer how long to wait.
//!
//! # Invariants
//!
//! * Two clients that failed together do not retry together: every delay is spread by [`with_jitter`].
//! * A delay is at least three quarters of the first one, and at most five quarters of the longest.

use std::time::Duration;

/// The delay doubles with each failure in a row, up to a longest one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
}

impl Backoff {
    pub const fn new(first: Duration, longest: Duration) -> Backoff {
        Backoff { first, longest }
    }

    /// The delay after so many failures in a row. None at all counts as one.
    pub fn delay(&self, failures: u32) -> Duration {
        let doubled = self.first.saturating_mul(2u32.saturating_pow(failures.saturating_sub(1)));
        with_jitter(doubled.min(self.longest))
    }
}

/// Spreads a delay evenly between three quarters and five quarters of it.
pub fn with_jitter(delay: Duration) -> Duration {
    // Without randomness the delay is merely not spread.
    let random = getrandom::u32().map_or(0.5, |random| f64::from(random) / f64::from(u32::MAX));
    Duration::try_from_secs_f64(delay.as_secs_f64() * (0.75 + random / 2.0)).unwrap_or(delay)
}

#[cfg(test)]
mod tests {
    use super::{Backoff, with_jitter};
    use std::time::Duration;

    #[test]
    fn delays_double_up_to_the_longest() {
        let backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(1));
        for (failures, expected) in
            [(0, 100), (1, 100), (2, 200), (3, 400), (4, 800), (5, 1_000), (u32::MAX, 1_000)]
        {
            let (delay, expected) = (backoff.delay(failures), Duration::from_millis(expected));
            assert!(delay >= expected * 3 / 4 && delay <= expected * 5 / 4, "{failures}: {delay:?}");
        }
    }

    #[test]
    fn two_delays_differ() {
        let delays: Vec<Duration> = (0..8).map(|_| with_jitter(Duration::from_secs(1))).collect();
        assert!(delays.iter().any(|delay| *delay != delays[0]), "{delays:?}");
    }
}
