use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_rpc::Caller;
use parking_lot::Mutex;

/// The rate of a token bucket.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    pub per_second: f64,
    /// Requests that an idle caller may send at once.
    pub burst: f64,
}

#[derive(Debug, Clone, Copy)]
pub struct TokenBucket {
    rate: Rate,
    tokens: f64,
    filled: Instant,
}

impl TokenBucket {
    pub fn full(rate: Rate, now: Instant) -> TokenBucket {
        TokenBucket { rate, tokens: rate.burst, filled: now }
    }

    /// Takes one token, or returns the time until the next one.
    pub fn take(&mut self, now: Instant) -> Result<(), Duration> {
        let tokens = self.at(now);
        if tokens >= 1.0 {
            *self = TokenBucket { tokens: tokens - 1.0, filled: now, ..*self };
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

/// The counter that a request belongs to. Each caller has one bucket per key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RateKey {
    /// All requests of a caller.
    Requests,
    /// Requests that fail.
    Errors,
    /// Calls of the tools that one entry of the settings matches.
    Tools(u16),
}

/// Token buckets in a bounded table.
#[derive(Debug, Default)]
pub struct Limiter(Mutex<BucketTable>);

#[derive(Debug, Default)]
struct BucketTable {
    buckets: HashMap<(Arc<str>, RateKey), TokenBucket>,
    cleared: Option<Instant>,
}

impl Limiter {
    const MOST_BUCKETS: usize = 20_000;
    /// Minimum time between two scans of a full table.
    const CLEAR: Duration = Duration::from_secs(1);

    /// Number of buckets in the table: those that are not full, and those not yet evicted.
    pub fn buckets(&self) -> usize {
        self.0.lock().buckets.len()
    }

    /// Takes one token from the caller's bucket, or returns the time until the next one.
    pub fn take(&self, caller: &Caller, what: RateKey, rate: Rate, now: Instant) -> Result<(), Duration> {
        let mut table = self.0.lock();
        let mut key = (caller.name().clone(), what);
        if table.buckets.len() >= Self::MOST_BUCKETS && !table.buckets.contains_key(&key) {
            table.clear(now);
            if table.buckets.len() >= Self::MOST_BUCKETS {
                // The table is full of busy buckets: callers without a bucket share one.
                key.0 = Arc::from("");
            }
        }
        table.buckets.entry(key).or_insert_with(|| TokenBucket::full(rate, now)).take(now)
    }
}

impl BucketTable {
    /// Evicts full buckets. A full bucket is equivalent to a missing one.
    fn clear(&mut self, now: Instant) {
        if self.cleared.is_none_or(|last| now.saturating_duration_since(last) >= Limiter::CLEAR) {
            self.cleared = Some(now);
            self.buckets.retain(|_, bucket| !bucket.is_full(now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Limiter, Rate, RateKey};
    use failwell_rpc::Caller;
    use std::time::{Duration, Instant};

    const RATE: Rate = Rate { per_second: 10.0, burst: 3.0 };

    #[test]
    fn a_burst_passes_then_the_caller_waits_its_turn() {
        let limiter = Limiter::default();
        let (start, caller) = (Instant::now(), Caller::anonymous());
        let take = |caller: &Caller, what, now| limiter.take(caller, what, RATE, now);
        for _ in 0..3 {
            assert!(take(&caller, RateKey::Requests, start).is_ok());
        }
        let wait = take(&caller, RateKey::Requests, start).expect_err("the fourth waits");
        assert!(wait <= Duration::from_millis(100), "{wait:?}");
        assert!(take(&caller, RateKey::Tools(0), start).is_ok(), "counted apart");
        assert!(take(&caller, RateKey::Requests, start + Duration::from_millis(100)).is_ok());
        assert!(take(&Caller::keyholder("other"), RateKey::Requests, start).is_ok());
    }

    #[test]
    fn the_table_does_not_grow_without_end() {
        let (limiter, start) = (Limiter::default(), Instant::now());
        let crowd = Limiter::MOST_BUCKETS + 100;
        for number in 0..crowd {
            let caller = Caller::keyholder(&number.to_string());
            let _ = limiter.take(&caller, RateKey::Requests, RATE, start);
        }
        assert_eq!(limiter.buckets(), Limiter::MOST_BUCKETS + 1, "the last ones share a bucket");
        let late = Caller::keyholder("late");
        assert!(limiter.take(&late, RateKey::Requests, RATE, start).is_err(), "which is empty");
        assert!(limiter.take(&late, RateKey::Requests, RATE, start + Duration::from_secs(2)).is_ok());
        assert_eq!(limiter.buckets(), 1, "those who rested made room");
    }
}
