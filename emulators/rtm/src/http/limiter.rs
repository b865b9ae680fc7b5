//! The rate limit: one request a second on average, three at once; what exceeds it is held back, then refused.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::assumed::LONGEST_DELAY;

/// How many requests are let through.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// On average.
    pub per_second: f64,
    /// At once.
    pub burst: f64,
}

impl Default for Rate {
    fn default() -> Rate {
        Rate { per_second: 1.0, burst: 3.0 }
    }
}

/// A bucket of permits for the one API key.
#[derive(Debug)]
pub(crate) struct Limiter {
    rate: Option<Rate>,
    /// How full the bucket was; below zero when requests are held back.
    level: f64,
    measured: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RateDecision {
    After(Duration),
    Refused,
}

impl Limiter {
    pub(crate) fn new(rate: Option<Rate>) -> Limiter {
        Limiter { rate, level: rate.map_or(0.0, |rate| rate.burst), measured: Instant::now() }
    }

    pub(crate) fn renewed(&self) -> Limiter {
        Limiter::new(self.rate)
    }

    pub(crate) fn ask(&mut self) -> RateDecision {
        self.ask_at(Instant::now())
    }

    fn ask_at(&mut self, now: Instant) -> RateDecision {
        let Some(rate) = self.rate.filter(|rate| rate.per_second > 0.0) else {
            return RateDecision::After(Duration::ZERO);
        };
        let passed = now.saturating_duration_since(self.measured).as_secs_f64();
        let level = (self.level + passed * rate.per_second).min(rate.burst);
        let wait = ((1.0 - level) / rate.per_second).max(0.0);
        self.measured = now;
        self.level = level;
        match Duration::try_from_secs_f64(wait) {
            Ok(wait) if wait <= LONGEST_DELAY => {
                self.level = level - 1.0;
                RateDecision::After(wait)
            }
            _ => RateDecision::Refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{Limiter, Rate, RateDecision};

    #[test]
    fn three_at_once_then_one_a_second_then_refused() {
        let start = Instant::now();
        let mut limiter = Limiter { measured: start, ..Limiter::new(Some(Rate::default())) };
        let asked: Vec<RateDecision> = (0..6).map(|_| limiter.ask_at(start)).collect();
        let after = |seconds| RateDecision::After(Duration::from_secs(seconds));
        assert_eq!(asked, [after(0), after(0), after(0), after(1), after(2), RateDecision::Refused]);
        assert_eq!(limiter.ask_at(start + Duration::from_secs(10)), after(0));
    }

    #[test]
    fn no_rate_no_limit() {
        let mut limiter = Limiter::new(None);
        assert!((0..100).all(|_| limiter.ask() == RateDecision::After(Duration::ZERO)));
    }
}
