//! How much callers may ask for: of everything, and of chosen tools.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::rate::{Counted, Limiter, Rate};
use crate::{Caller, Pattern, Whom};

/// How much of something a caller may have.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Allowance {
    /// Over time; `None` for as much as it likes.
    pub rate: Option<Rate>,
    /// At the same time; `None` for as many as it likes.
    pub concurrency: Option<u32>,
}

impl Allowance {
    /// The stricter of two, each part for itself.
    fn stricter(self, other: Allowance) -> Allowance {
        let rate = match (self.rate, other.rate) {
            (Some(one), Some(two)) => Some(if two.per_second < one.per_second { two } else { one }),
            (one, two) => one.or(two),
        };
        let concurrency = match (self.concurrency, other.concurrency) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        Allowance { rate, concurrency }
    }
}

/// What the operator says about how much.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limits {
    /// Every caller of whom nothing else is said.
    pub everybody: Allowance,
    /// Some callers. Of several lines about one caller the strictest counts.
    pub callers: Vec<(Whom, Allowance)>,
    /// Some tools, as `server__tool` with the server's own name of it; each caller has its own share of each line.
    pub tools: Vec<(Pattern, Allowance)>,
    /// How many requests that come to nothing a caller may send before it is slowed down. `None` for what is usual.
    pub errors: Option<Rate>,
}

impl Limits {
    /// How many errors a caller with a name may draw, unless the operator says otherwise. Somebody without one is on
    /// this machine.
    pub const USUAL_ERRORS: Rate = Rate { per_second: 5.0, burst: 200.0 };

    /// What a caller may ask for in all.
    pub fn of(&self, caller: &Caller) -> Allowance {
        let about = self.callers.iter().filter(|(whom, _)| whom.includes(caller));
        let own = about.fold(Allowance::default(), |so_far, (_, allowance)| so_far.stricter(*allowance));
        Allowance {
            rate: own.rate.or(self.everybody.rate),
            concurrency: own.concurrency.or(self.everybody.concurrency),
        }
    }

    /// What is said of a tool, each with the number of its line.
    pub fn of_tool<'a>(&'a self, tool: &'a str) -> impl Iterator<Item = (u16, Allowance)> + 'a {
        let about = self.tools.iter().enumerate().filter(move |(_, (pattern, _))| pattern.matches(tool));
        about.map(|(line, (_, allowance))| (u16::try_from(line).unwrap_or(u16::MAX), *allowance))
    }

    fn errors_of(&self, caller: &Caller) -> Option<Rate> {
        self.errors.or_else(|| (*caller != Caller::anonymous()).then_some(Limits::USUAL_ERRORS))
    }
}

/// Limits, and how much of them is used.
#[derive(Debug, Default)]
pub struct Allowances {
    limits: Limits,
    limiter: Limiter,
    held: Arc<Held>,
}

/// What runs at the same time, by caller. What does not run is not in it, so it is no larger than what may run.
#[derive(Debug, Default)]
struct Held(Mutex<HashMap<(Arc<str>, Counted), u32>>);

/// One of what a caller may have at the same time; given back when dropped.
#[derive(Debug)]
#[must_use]
pub struct Place {
    held: Arc<Held>,
    key: (Arc<str>, Counted),
}

impl Allowances {
    /// Nothing of these limits is used.
    pub fn new(limits: Limits) -> Allowances {
        Allowances { limits, ..Allowances::default() }
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// How many buckets are in use.
    pub fn buckets(&self) -> usize {
        self.limiter.buckets()
    }

    /// Counts one, or says how long to wait.
    pub fn take(&self, caller: &Caller, what: Counted, rate: Rate, now: Instant) -> Result<(), Duration> {
        self.limiter.take(caller, what, rate, now)
    }

    /// One more at the same time, unless there are so many already.
    pub fn enter(&self, caller: &Caller, what: Counted, most: u32) -> Option<Place> {
        let key = (caller.name().clone(), what);
        let mut held = self.held.lock();
        let count = held.entry(key.clone()).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Place { held: self.held.clone(), key })
    }

    /// A caller sent something that came to nothing: whether it may be told what was wrong, or how long it has to wait
    /// before it is told again.
    pub fn err(&self, caller: &Caller, now: Instant) -> Result<(), Duration> {
        match self.limits.errors_of(caller) {
            Some(rate) => self.limiter.take(caller, Counted::Errors, rate, now),
            None => Ok(()),
        }
    }
}

impl Held {
    fn lock(&self) -> MutexGuard<'_, HashMap<(Arc<str>, Counted), u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut held = self.held.lock();
        let left = held.get_mut(&self.key).map(|count| {
            *count = count.saturating_sub(1);
            *count
        });
        if left == Some(0) {
            held.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Allowance, Allowances, Limits};
    use crate::rate::{Counted, Rate};
    use crate::{Caller, Pattern, Whom};
    use std::time::{Duration, Instant};

    fn rate(per_second: f64) -> Allowance {
        Allowance { rate: Some(Rate { per_second, burst: per_second }), concurrency: None }
    }

    #[test]
    fn the_strictest_line_about_a_caller_counts_and_everybody_else_has_the_rest() {
        let limits = Limits {
            everybody: Allowance { concurrency: Some(9), ..rate(5.0) },
            callers: vec![
                (Whom::new(["key:ci"]), rate(100.0)),
                (Whom::new(["role:guest"]), Allowance { rate: None, concurrency: Some(1) }),
                (Whom::new(["key:*", "!key:ci"]), rate(50.0)),
            ],
            ..Limits::default()
        };
        let of = |caller: &Caller| {
            let Allowance { rate, concurrency } = limits.of(caller);
            (rate.map(|rate| rate.per_second), concurrency)
        };
        assert_eq!(of(&Caller::anonymous()), (Some(5.0), Some(9)));
        assert_eq!(of(&Caller::keyholder("ci")), (Some(100.0), Some(9)));
        assert_eq!(of(&Caller::keyholder("ann").in_roles(["guest"])), (Some(50.0), Some(1)));
    }

    #[test]
    fn every_line_about_a_tool_counts() {
        let tools = vec![(Pattern::new("files__*"), rate(1.0)), (Pattern::new("*__write"), rate(2.0))];
        let limits = Limits { tools, ..Limits::default() };
        let lines = |tool| limits.of_tool(tool).map(|(line, _)| line).collect::<Vec<_>>();
        assert_eq!((lines("files__write"), lines("files__read"), lines("x")), (vec![0, 1], vec![0], vec![]));
    }

    #[test]
    fn places_are_given_back() {
        let (all, caller) = (Allowances::default(), Caller::anonymous());
        let first = all.enter(&caller, Counted::Requests, 1);
        assert!(first.is_some() && all.enter(&caller, Counted::Requests, 1).is_none());
        assert!(all.enter(&caller, Counted::Tools(0), 1).is_some());
        assert!(all.enter(&Caller::keyholder("x"), Counted::Requests, 1).is_some());
        drop(first);
        assert!(all.held.lock().is_empty());
        assert!(all.enter(&caller, Counted::Requests, 1).is_some());
        assert!(all.enter(&caller, Counted::Requests, 0).is_none());
    }

    #[test]
    fn errors_are_usually_counted_for_callers_with_a_name() {
        let (usual, start) = (Allowances::default(), Instant::now());
        let named = Caller::keyholder("ci");
        assert!((0..200).all(|_| usual.err(&named, start).is_ok()));
        let wait = usual.err(&named, start).expect_err("slowed down");
        assert_eq!(wait, Duration::from_millis(200));
        assert!((0..10_000).all(|_| usual.err(&Caller::anonymous(), start).is_ok()));
        let errors = Some(Rate { per_second: 1.0, burst: 1.0 });
        let said = Allowances::new(Limits { errors, ..Limits::default() });
        assert!(said.err(&Caller::anonymous(), start).is_ok());
        assert!(said.err(&Caller::anonymous(), start).is_err());
    }
}
