use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use failwell_fault::{Fault, Retry, reason};

use crate::Caller;

/// How many requests a caller may send.
#[derive(Debug, Clone, Copy)]
pub struct Rate {
    /// On average, per second.
    pub per_second: f64,
    /// At once, after a rest.
    pub burst: f64,
}

/// A bucket per caller, in a bounded table.
#[derive(Debug)]
pub struct Limiter {
    rate: Rate,
    buckets: Mutex<HashMap<Caller, Bucket>>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    tokens: f64,
    filled: Instant,
}

impl Limiter {
    const MOST_CALLERS: usize = 10_000;

    /// A limiter with full buckets.
    pub fn new(rate: Rate) -> Limiter {
        Limiter { rate, buckets: Mutex::default() }
    }

    /// How many callers have a bucket that is not full, or were seen of late.
    pub fn callers(&self) -> usize {
        self.buckets.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Takes one request's worth, or says how long to wait.
    pub fn take(&self, caller: &Caller, now: Instant) -> Result<(), Fault> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= Self::MOST_CALLERS && !buckets.contains_key(caller) {
            // A full bucket is the same as no bucket, so rested callers make room.
            let rate = self.rate;
            buckets.retain(|_, bucket| bucket.at(rate, now) < rate.burst);
        }
        let full = Bucket { tokens: self.rate.burst, filled: now };
        let bucket = buckets.entry(caller.clone()).or_insert(full);
        let tokens = bucket.at(self.rate, now);
        if tokens >= 1.0 {
            *bucket = Bucket { tokens: tokens - 1.0, filled: now };
            return Ok(());
        }
        let wait = Duration::from_secs_f64(((1.0 - tokens) / self.rate.per_second).max(0.001));
        Err(Fault::new(&reason::POLICY_RATE_LIMITED).retry_as(Retry::After(wait)))
    }
}

impl Bucket {
    fn at(&self, rate: Rate, now: Instant) -> f64 {
        let rested = now.saturating_duration_since(self.filled).as_secs_f64();
        (self.tokens + rested * rate.per_second).min(rate.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::{Limiter, Rate};
    use crate::Caller;
    use failwell_fault::Retry;
    use std::time::{Duration, Instant};

    #[test]
    fn a_burst_passes_then_the_caller_waits_its_turn() {
        let limiter = Limiter::new(Rate { per_second: 10.0, burst: 3.0 });
        let (start, caller) = (Instant::now(), Caller::anonymous());
        for _ in 0..3 {
            assert!(limiter.take(&caller, start).is_ok());
        }
        let fault = limiter.take(&caller, start).expect_err("the fourth waits");
        let Retry::After(wait) = fault.retry() else { panic!("{fault:?}") };
        assert!(wait <= Duration::from_millis(100), "{wait:?}");
        assert!(limiter.take(&caller, start + Duration::from_millis(100)).is_ok());
        assert!(limiter.take(&Caller::keyholder("other"), start).is_ok());
    }
}
