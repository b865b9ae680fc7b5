//! Limits per caller: on all requests, and on selected tools.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::rate::{Limiter, Rate, RateKey};
use crate::{CallerMatcher, Pattern};
use failwell_rpc::Caller;
use parking_lot::Mutex;

/// A limit on rate and concurrency.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Allowance {
    /// `None` means unlimited.
    pub rate: Option<Rate>,
    /// Calls at the same time; `None` means unlimited.
    pub concurrency: Option<u32>,
}

impl Allowance {
    /// Combines two limits: the stricter rate and the lower concurrency.
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

/// The limits that the operator configured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limits {
    /// The default for callers that no entry of `callers` matches.
    pub default: Allowance,
    /// Limits for matching callers. If several entries match, the strictest applies.
    pub callers: Vec<(CallerMatcher, Allowance)>,
    /// Limits for matching tools, as `server__tool` with the server's own tool name. Each caller has a
    /// separate quota for each entry.
    pub tools: Vec<(Pattern, Allowance)>,
    /// The rate of failed requests before a caller is throttled. `None` selects the default.
    pub errors: Option<Rate>,
}

impl Limits {
    /// The default rate of failed requests for a caller with a name. Anonymous callers are on this machine
    /// and have no default limit.
    pub const USUAL_ERRORS: Rate = Rate { per_second: 5.0, burst: 200.0 };

    /// The limits on all requests of a caller.
    pub fn for_caller(&self, caller: &Caller) -> Allowance {
        let about = self.callers.iter().filter(|(whom, _)| whom.includes(caller));
        let own = about.fold(Allowance::default(), |so_far, (_, allowance)| so_far.stricter(*allowance));
        Allowance {
            rate: own.rate.or(self.default.rate),
            concurrency: own.concurrency.or(self.default.concurrency),
        }
    }

    /// The limits that match a tool, each with the index of its entry.
    pub fn for_tool<'a>(&'a self, tool: &'a str) -> impl Iterator<Item = (u16, Allowance)> + 'a {
        let about = self.tools.iter().enumerate().filter(move |(_, (pattern, _))| pattern.matches(tool));
        about.map(|(line, (_, allowance))| (u16::try_from(line).unwrap_or(u16::MAX), *allowance))
    }

    fn error_rate(&self, caller: &Caller) -> Option<Rate> {
        self.errors.or_else(|| (*caller != Caller::anonymous()).then_some(Limits::USUAL_ERRORS))
    }
}

/// The limits and their current use.
#[derive(Debug, Default)]
pub struct Allowances {
    limits: Limits,
    limiter: Limiter,
    held: Arc<RunningCalls>,
}

/// Counts of running calls by caller. Finished calls are removed, so the concurrency limits bound the table.
#[derive(Debug, Default)]
struct RunningCalls(Mutex<HashMap<(Arc<str>, RateKey), u32>>);

/// A permit for one running call; dropping it releases the permit.
#[derive(Debug)]
#[must_use]
pub struct ConcurrencyPermit {
    held: Arc<RunningCalls>,
    key: (Arc<str>, RateKey),
}

impl Allowances {
    pub fn new(limits: Limits) -> Allowances {
        Allowances { limits, ..Allowances::default() }
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    pub fn buckets(&self) -> usize {
        self.limiter.buckets()
    }

    /// Takes one token, or returns the time to wait for it.
    pub fn take(&self, caller: &Caller, what: RateKey, rate: Rate, now: Instant) -> Result<(), Duration> {
        self.limiter.take(caller, what, rate, now)
    }

    /// Returns a permit unless `most` calls are already running.
    pub fn acquire(&self, caller: &Caller, what: RateKey, most: u32) -> Option<ConcurrencyPermit> {
        let key = (caller.name().clone(), what);
        let mut held = self.held.0.lock();
        let count = held.entry(key.clone()).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(ConcurrencyPermit { held: self.held.clone(), key })
    }

    /// Counts a failed request. Returns the time to wait if the caller may not get another detailed error
    /// yet.
    pub fn record_error(&self, caller: &Caller, now: Instant) -> Result<(), Duration> {
        match self.limits.error_rate(caller) {
            Some(rate) => self.limiter.take(caller, RateKey::Errors, rate, now),
            None => Ok(()),
        }
    }
}

impl Drop for ConcurrencyPermit {
    fn drop(&mut self) {
        let mut held = self.held.0.lock();
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
    use crate::rate::{Rate, RateKey};
    use crate::{CallerMatcher, Pattern};
    use failwell_rpc::Caller;
    use std::time::{Duration, Instant};

    fn rate(per_second: f64) -> Allowance {
        Allowance { rate: Some(Rate { per_second, burst: per_second }), concurrency: None }
    }

    #[test]
    fn the_strictest_line_about_a_caller_counts_and_everybody_else_has_the_rest() {
        let limits = Limits {
            default: Allowance { concurrency: Some(9), ..rate(5.0) },
            callers: vec![
                (CallerMatcher::new(["key:ci"]), rate(100.0)),
                (CallerMatcher::new(["role:guest"]), Allowance { rate: None, concurrency: Some(1) }),
                (CallerMatcher::new(["key:*", "!key:ci"]), rate(50.0)),
            ],
            ..Limits::default()
        };
        let of = |caller: &Caller| {
            let Allowance { rate, concurrency } = limits.for_caller(caller);
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
        let lines = |tool| limits.for_tool(tool).map(|(line, _)| line).collect::<Vec<_>>();
        assert_eq!((lines("files__write"), lines("files__read"), lines("x")), (vec![0, 1], vec![0], vec![]));
    }

    #[test]
    fn places_are_given_back() {
        let (all, caller) = (Allowances::default(), Caller::anonymous());
        let first = all.acquire(&caller, RateKey::Requests, 1);
        assert!(first.is_some() && all.acquire(&caller, RateKey::Requests, 1).is_none());
        assert!(all.acquire(&caller, RateKey::Tools(0), 1).is_some());
        assert!(all.acquire(&Caller::keyholder("x"), RateKey::Requests, 1).is_some());
        drop(first);
        assert!(all.held.0.lock().is_empty());
        assert!(all.acquire(&caller, RateKey::Requests, 1).is_some());
        assert!(all.acquire(&caller, RateKey::Requests, 0).is_none());
    }

    #[test]
    fn errors_are_usually_counted_for_callers_with_a_name() {
        let (usual, start) = (Allowances::default(), Instant::now());
        let named = Caller::keyholder("ci");
        assert!((0..200).all(|_| usual.record_error(&named, start).is_ok()));
        let wait = usual.record_error(&named, start).expect_err("slowed down");
        assert_eq!(wait, Duration::from_millis(200));
        assert!((0..10_000).all(|_| usual.record_error(&Caller::anonymous(), start).is_ok()));
        let errors = Some(Rate { per_second: 1.0, burst: 1.0 });
        let allowances = Allowances::new(Limits { errors, ..Limits::default() });
        assert!(allowances.record_error(&Caller::anonymous(), start).is_ok());
        assert!(allowances.record_error(&Caller::anonymous(), start).is_err());
    }
}
