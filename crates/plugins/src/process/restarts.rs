//! The restart budget and back-off of a child.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use failwell_backoff::Backoff;

const BACKOFF: Backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(5));
/// A child that ran at least this long resets the back-off.
const WELL: Duration = Duration::from_secs(30);
/// Maximum budget.
const MOST: usize = 1_000;

/// The start history of one child.
#[derive(Debug)]
pub(super) struct RestartBudget {
    budget: usize,
    window: Duration,
    /// The restarts within the window. The first start does not count.
    recent: VecDeque<Instant>,
    began: Option<Instant>,
    /// The number of ends in a row, including the last one. The end of a stable child restarts the count at
    /// one.
    ends: u32,
}

/// The next step after an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RestartDecision {
    /// Restart after this delay.
    Start(Duration),
    /// The budget is exhausted for this long.
    Rest(Duration),
}

impl RestartBudget {
    pub(super) fn new(budget: u32, window: Duration) -> RestartBudget {
        let budget = usize::try_from(budget).unwrap_or(MOST).min(MOST);
        RestartBudget { budget, window, recent: VecDeque::new(), began: None, ends: 1 }
    }

    /// Decides when the child may be started.
    pub(super) fn next(&mut self, now: Instant) -> RestartDecision {
        let Some(began) = self.began else { return RestartDecision::Start(Duration::ZERO) };
        self.recent.retain(|start| now.duration_since(*start) < self.window);
        if self.recent.len() >= self.budget {
            let oldest = self.recent.front().map_or(Duration::ZERO, |start| now.duration_since(*start));
            return RestartDecision::Rest(self.window.saturating_sub(oldest));
        }
        self.ends = if now.duration_since(began) >= WELL { 1 } else { self.ends.saturating_add(1) };
        RestartDecision::Start(BACKOFF.delay(self.ends))
    }

    /// Registers a start.
    pub(super) fn note(&mut self, now: Instant) {
        if self.began.replace(now).is_some() {
            self.recent.push_back(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{RestartBudget, RestartDecision};
    use std::time::{Duration, Instant};

    #[test]
    fn starts_come_slower_and_end_with_the_budget_until_the_window_is_over() {
        let mut starts = RestartBudget::new(3, Duration::from_secs(60));
        let mut now = Instant::now();
        assert_eq!(starts.next(now), RestartDecision::Start(Duration::ZERO));
        starts.note(now);
        let mut waits = Vec::new();
        for _ in 0..3 {
            let RestartDecision::Start(wait) = starts.next(now) else { panic!("no start") };
            waits.push(wait);
            now += wait;
            starts.note(now);
        }
        assert!(waits.is_sorted() && waits[0] < waits[2], "{waits:?}");
        let RestartDecision::Rest(rest) = starts.next(now) else { panic!("no rest") };
        assert!(rest > Duration::from_secs(50), "{rest:?}");
        assert!(matches!(starts.next(now + Duration::from_secs(61)), RestartDecision::Start(_)));
    }

    #[test]
    fn a_budget_of_nothing_is_one_start() {
        let mut starts = RestartBudget::new(0, Duration::from_secs(60));
        let now = Instant::now();
        assert_eq!(starts.next(now), RestartDecision::Start(Duration::ZERO));
        starts.note(now);
        assert!(matches!(starts.next(now), RestartDecision::Rest(_)));
    }
}
