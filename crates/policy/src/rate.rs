use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::Caller;

/// How much a caller may do of something.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// On average, per second.
    pub per_second: f64,
    /// At once, after a rest.
    pub burst: f64,
}

/// What is left of a rate.
#[derive(Debug, Clone, Copy)]
pub struct Bucket {
    rate: Rate,
    tokens: f64,
    filled: Instant,
}

impl Bucket {
    /// After a rest.
    pub fn full(rate: Rate, now: Instant) -> Bucket {
        Bucket { rate, tokens: rate.burst, filled: now }
    }

    /// Takes one, or says how long to wait for it.
    pub fn take(&mut self, now: Instant) -> Result<(), Duration> {
        let tokens = self.at(now);
        if tokens >= 1.0 {
            *self = Bucket { tokens: tokens - 1.0, filled: now, ..*self };
            return Ok(());
        }
        Err(Duration::from_secs_f64(((1.0 - tokens) / self.rate.per_second).max(0.001)))
    }

    fn at(&self, now: Instant) -> f64 {
        let rested = now.saturating_duration_since(self.filled).as_secs_f64();
        (self.tokens + rested * self.rate.per_second).min(self.rate.burst)
    }

    fn is_full(&self, now: Instant) -> bool {
        self.at(now) >= self.rate.burst
    }
}

/// What is counted: one bucket for each caller and each of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Counted {
    /// Everything a caller sends.
    Requests,
    /// What it sends that comes to nothing.
    Errors,
    /// Calls of the tools of one line of the settings.
    Tools(u16),
}

/// Buckets in a bounded table.
#[derive(Debug, Default)]
pub struct Limiter(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    buckets: HashMap<(Arc<str>, Counted), Bucket>,
    cleared: Option<Instant>,
}

impl Limiter {
    const MOST_BUCKETS: usize = 20_000;
    /// How often a full table is gone through.
    const CLEAR: Duration = Duration::from_secs(1);

    /// How many buckets are not full, or were used of late.
    pub fn buckets(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).buckets.len()
    }

    /// Takes one of what a caller may do, or says how long to wait for it.
    pub fn take(&self, caller: &Caller, what: Counted, rate: Rate, now: Instant) -> Result<(), Duration> {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut key = (caller.name().clone(), what);
        if table.buckets.len() >= Self::MOST_BUCKETS && !table.buckets.contains_key(&key) {
            table.clear(now);
            if table.buckets.len() >= Self::MOST_BUCKETS {
                // So many are busy at once: those for whom there is no room share one bucket.
                key.0 = Arc::from("");
            }
        }
        table.buckets.entry(key).or_insert_with(|| Bucket::full(rate, now)).take(now)
    }
}

impl Table {
    /// A full bucket is the same as no bucket, so rested callers make room.
    fn clear(&mut self, now: Instant) {
        if self.cleared.is_none_or(|last| now.saturating_duration_since(last) >= Limiter::CLEAR) {
            self.cleared = Some(now);
            self.buckets.retain(|_, bucket| !bucket.is_full(now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Counted, Limiter, Rate};
    use crate::Caller;
    use std::time::{Duration, Instant};

    const RATE: Rate = Rate { per_second: 10.0, burst: 3.0 };

    #[test]
    fn a_burst_passes_then_the_caller_waits_its_turn() {
        let limiter = Limiter::default();
        let (start, caller) = (Instant::now(), Caller::anonymous());
        let take = |caller: &Caller, what, now| limiter.take(caller, what, RATE, now);
        for _ in 0..3 {
            assert!(take(&caller, Counted::Requests, start).is_ok());
        }
        let wait = take(&caller, Counted::Requests, start).expect_err("the fourth waits");
        assert!(wait <= Duration::from_millis(100), "{wait:?}");
        assert!(take(&caller, Counted::Tools(0), start).is_ok(), "counted apart");
        assert!(take(&caller, Counted::Requests, start + Duration::from_millis(100)).is_ok());
        assert!(take(&Caller::keyholder("other"), Counted::Requests, start).is_ok());
    }

    #[test]
    fn the_table_does_not_grow_without_end() {
        let (limiter, start) = (Limiter::default(), Instant::now());
        let crowd = Limiter::MOST_BUCKETS + 100;
        for number in 0..crowd {
            let caller = Caller::keyholder(&number.to_string());
            let _ = limiter.take(&caller, Counted::Requests, RATE, start);
        }
        assert_eq!(limiter.buckets(), Limiter::MOST_BUCKETS + 1, "the last ones share a bucket");
        let late = Caller::keyholder("late");
        assert!(limiter.take(&late, Counted::Requests, RATE, start).is_err(), "which is empty");
        assert!(limiter.take(&late, Counted::Requests, RATE, start + Duration::from_secs(2)).is_ok());
        assert_eq!(limiter.buckets(), 1, "those who rested made room");
    }
}
