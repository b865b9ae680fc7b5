//! The limits of callers, as one snapshot that a reload replaces. All pipelines of a program share it.
//!
//! Nodes with shared state count rates together. Each node counts concurrency and errors for itself.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, Guard};
use failwell_fault::{Effect, Fault, Kind, Retry, reason};
use failwell_policy::{Allowance, Allowances, ConcurrencyPermit, Limits, Rate, RateKey};
use failwell_rpc::Caller;

use failwell_pipeline::{Admission, Permit, RateLimits};
use failwell_toolbox::Work;

/// The rate limiter that every request passes.
#[derive(Debug, Default)]
pub struct RateLimiter(ArcSwap<Allowances>);

/// Counters that several nodes share.
pub trait SharedRates: Debug + Send + Sync {
    fn take(&self, counter: &str, rate: Rate) -> Work<SharedRateDecision>;
}

/// The decision about a caller's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedRateDecision {
    /// The request may proceed.
    Now,
    /// The request may proceed after this duration.
    Wait(Duration),
    /// The shared counter is unavailable: each node counts for itself.
    Uncounted,
}

struct LimitCheck<'a> {
    caller: &'a Caller,
    what: RateKey,
    /// The name of the shared counter.
    counter: String,
    allowance: Allowance,
}

impl RateLimiter {
    pub fn new(limits: Limits) -> RateLimiter {
        RateLimiter(ArcSwap::from_pointee(Allowances::new(limits)))
    }

    /// Replaces the limits. Returns whether they differ. Equal limits change nothing, so their counts stay.
    pub fn replace(&self, limits: Limits) -> bool {
        let differ = *self.0.load().limits() != limits;
        if differ {
            self.0.store(Arc::new(Allowances::new(limits)));
        }
        differ
    }

    /// The number of buckets in use.
    pub(crate) fn buckets(&self) -> usize {
        self.0.load().buckets()
    }

    /// Whether any tool has limits of its own.
    pub(crate) fn limits_tools(&self) -> bool {
        !self.0.load().limits().tools.is_empty()
    }

    /// Replaces the fault of a caller that repeatedly causes NotFound, Denied or Malformed, so that it learns
    /// nothing more for a while. Successful results are never replaced, nor are faults of calls that may have
    /// had an effect.
    pub(crate) fn throttle_errors(&self, fault: Fault, caller: &Caller) -> Fault {
        let is_fruitless = matches!(fault.kind(), Kind::NotFound | Kind::Denied | Kind::Malformed);
        if !is_fruitless || fault.effect() != Effect::None {
            return fault;
        }
        match self.0.load().record_error(caller, Instant::now()) {
            Ok(()) => fault,
            Err(wait) => too_many("errors", wait).absorbing(fault),
        }
    }
}

/// The limits of one node, with its own counters or shared ones.
#[derive(Debug)]
pub(crate) struct NodeLimits {
    pub(crate) limiter: Arc<RateLimiter>,
    pub(crate) shared: Option<Arc<dyn SharedRates>>,
}

impl RateLimits for NodeLimits {
    fn admit<'a>(&'a self, caller: &'a Caller) -> Admission<'a> {
        let now = self.limiter.0.load();
        let allowance = now.limits().for_caller(caller);
        if allowance == Allowance::default() {
            return Admission::Now(Ok(Permit::default()));
        }
        let now = Guard::into_inner(now);
        let check = LimitCheck { caller, what: RateKey::Requests, counter: String::new(), allowance };
        check.admit(now, self.shared.as_deref())
    }

    fn admit_tool<'a>(&'a self, caller: &'a Caller, tool: &'a str) -> Admission<'a> {
        let now = self.limiter.0.load_full();
        let limits = now.limits().for_tool(tool);
        let checks: Vec<LimitCheck<'a>> = limits
            .map(|(line, allowance)| {
                let (what, counter) = (RateKey::Tools(line), format!("tools:{line}:"));
                LimitCheck { caller, what, counter, allowance }
            })
            .collect();
        admit_all(checks, now, self.shared.as_deref())
    }

    fn limits_tools(&self) -> bool {
        self.limiter.limits_tools()
    }

    fn throttle_errors(&self, fault: Fault, caller: &Caller) -> Fault {
        self.limiter.throttle_errors(fault, caller)
    }
}

/// Runs all checks in order. Only shared counters are awaited.
fn admit_all<'a>(
    checks: Vec<LimitCheck<'a>>,
    now: Arc<Allowances>,
    shared: Option<&'a dyn SharedRates>,
) -> Admission<'a> {
    let mut places = Vec::new();
    match shared {
        None => {
            let passed = checks
                .iter()
                .try_for_each(|check| check.pass(&now, SharedRateDecision::Uncounted, &mut places));
            Admission::Now(passed.map(|()| permit(places)))
        }
        Some(shared) => Admission::Pending(Box::pin(async move {
            for check in &checks {
                check.pass(&now, check.count(shared).await?, &mut places)?;
            }
            Ok(permit(places))
        })),
    }
}

fn permit(places: Vec<ConcurrencyPermit>) -> Permit {
    if places.is_empty() { Permit::default() } else { Permit::holding(places) }
}

impl<'a> LimitCheck<'a> {
    fn admit(self, now: Arc<Allowances>, shared: Option<&'a dyn SharedRates>) -> Admission<'a> {
        admit_all(vec![self], now, shared)
    }

    async fn count(&self, shared: &dyn SharedRates) -> Result<SharedRateDecision, Fault> {
        match self.allowance.rate {
            Some(rate) => shared.take(&format!("{}{}", self.counter, self.caller), rate).await,
            None => Ok(SharedRateDecision::Uncounted),
        }
    }

    fn pass(
        &self,
        now: &Allowances,
        counted: SharedRateDecision,
        places: &mut Vec<ConcurrencyPermit>,
    ) -> Result<(), Fault> {
        if let Some(rate) = self.allowance.rate {
            let turn = match counted {
                SharedRateDecision::Now => Ok(()),
                SharedRateDecision::Wait(wait) => Err(wait),
                SharedRateDecision::Uncounted => now.take(self.caller, self.what, rate, Instant::now()),
            };
            turn.map_err(|wait| too_many(self.named("rate", "tool_rate"), wait))?;
        }
        if let Some(most) = self.allowance.concurrency {
            let place = now.acquire(self.caller, self.what, most);
            let full = || too_many(self.named("concurrency", "tool_concurrency"), BUSY).fact("limit", most);
            places.push(place.ok_or_else(full)?);
        }
        Ok(())
    }

    fn named(&self, of_all: &'static str, of_tools: &'static str) -> &'static str {
        if matches!(self.what, RateKey::Tools(_)) { of_tools } else { of_all }
    }
}

/// The retry delay after a concurrency limit. The real wait is unknown.
const BUSY: Duration = Duration::from_secs(1);

fn too_many(of: &'static str, wait: Duration) -> Fault {
    Fault::new(&reason::POLICY_RATE_LIMITED).fact("exceeded", of).retry_as(Retry::After(wait))
}

#[cfg(test)]
mod tests {
    use super::RateLimiter;
    use failwell_fault::{Effect, Fault, reason};
    use failwell_policy::{Limits, Rate};
    use failwell_rpc::Caller;

    #[test]
    fn only_fruitless_failures_without_effect_are_slowed_down() {
        let errors = Some(Rate { per_second: 0.01, burst: 1.0 });
        let rate_limiter = RateLimiter::new(Limits { errors, ..Limits::default() });
        let caller = Caller::keyholder("a");
        let reason = |fault: Fault| rate_limiter.throttle_errors(fault, &caller).reason().id;
        assert_eq!(reason(Fault::new(&reason::MCP_UNKNOWN_TOOL)), "mcp/UNKNOWN_TOOL");
        for row in [&reason::MCP_UNKNOWN_TOOL, &reason::POLICY_DENIED, &reason::RPC_NOT_JSON] {
            assert_eq!(reason(Fault::new(row)), "policy/RATE_LIMITED", "{}", row.id);
        }
        assert_eq!(reason(Fault::new(&reason::GATEWAY_UPSTREAM_TIMEOUT)), "gateway/UPSTREAM_TIMEOUT");
        let done = Fault::new(&reason::POLICY_BLOCKED).with_effect(Effect::Unknown);
        assert_eq!(reason(done), "policy/BLOCKED", "a repeat would do it twice");
        let slowed = rate_limiter.throttle_errors(Fault::new(&reason::MCP_UNKNOWN_TOOL), &caller);
        assert!(slowed.operator().to_string().contains("mcp/UNKNOWN_TOOL"), "the operator still knows");
        assert!(!slowed.to_string().contains("UNKNOWN_TOOL"));
    }
}
