//! How often a child may be started, and how soon.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The first wait after a child ended.
const FIRST: Duration = Duration::from_millis(50);
/// The longest.
const LONGEST: Duration = Duration::from_secs(5);
/// A child that ran for so long did well.
const WELL: Duration = Duration::from_secs(30);
/// The most starts that are remembered.
const MOST: usize = 1_000;

/// The starts of one child.
#[derive(Debug)]
pub(super) struct Starts {
    budget: usize,
    window: Duration,
    /// The restarts within the window; the first start of all is free.
    recent: VecDeque<Instant>,
    began: Option<Instant>,
    wait: Duration,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Another start, after a while.
    Start(Duration),
    /// None before so long: the budget is used up.
    Rest(Duration),
}

impl Starts {
    pub(super) fn new(budget: u32, window: Duration) -> Starts {
        let budget = usize::try_from(budget).unwrap_or(MOST).min(MOST);
        Starts { budget, window, recent: VecDeque::new(), began: None, wait: FIRST }
    }

    /// When it may be started.
    pub(super) fn next(&mut self, now: Instant) -> Next {
        let Some(began) = self.began else { return Next::Start(Duration::ZERO) };
        self.recent.retain(|start| now.duration_since(*start) < self.window);
        if self.recent.len() >= self.budget {
            let oldest = self.recent.front().map_or(Duration::ZERO, |start| now.duration_since(*start));
            return Next::Rest(self.window.saturating_sub(oldest));
        }
        self.wait = if now.duration_since(began) >= WELL { FIRST } else { (self.wait * 2).min(LONGEST) };
        Next::Start(self.wait)
    }

    /// It is started.
    pub(super) fn note(&mut self, now: Instant) {
        if self.began.replace(now).is_some() {
            self.recent.push_back(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Next, Starts};
    use std::time::{Duration, Instant};

    #[test]
    fn starts_come_slower_and_end_with_the_budget_until_the_window_is_over() {
        let mut starts = Starts::new(3, Duration::from_secs(60));
        let mut now = Instant::now();
        assert_eq!(starts.next(now), Next::Start(Duration::ZERO));
        starts.note(now);
        let mut waits = Vec::new();
        for _ in 0..3 {
            let Next::Start(wait) = starts.next(now) else { panic!("no start") };
            waits.push(wait);
            now += wait;
            starts.note(now);
        }
        assert!(waits.is_sorted() && waits[0] < waits[2], "{waits:?}");
        let Next::Rest(rest) = starts.next(now) else { panic!("no rest") };
        assert!(rest > Duration::from_secs(50), "{rest:?}");
        assert!(matches!(starts.next(now + Duration::from_secs(61)), Next::Start(_)));
    }

    #[test]
    fn a_budget_of_nothing_is_one_start() {
        let mut starts = Starts::new(0, Duration::from_secs(60));
        let now = Instant::now();
        assert_eq!(starts.next(now), Next::Start(Duration::ZERO));
        starts.note(now);
        assert!(matches!(starts.next(now), Next::Rest(_)));
    }
}
