//! How much callers may ask for, as one snapshot that a reload replaces, shared by all houses of a program.
//!
//! Rates are counted by all nodes together where they share a state; what runs at the same time, and errors, each node
//! counts for itself.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, Guard};
use failwell_fault::{Effect, Fault, Kind, Retry, reason};
use failwell_policy::{Allowance, Allowances, Caller, Counted, HeldPlace, Limits, Rate};

use crate::state::{SharedState, Turn};

/// What every request passes.
#[derive(Debug, Default)]
pub struct Turnstile(ArcSwap<Allowances>);

/// What a request holds while it runs; given back when dropped.
#[derive(Debug, Default)]
pub struct Passage {
    _places: Vec<HeldPlace>,
}

/// Who wants what.
struct Turned<'a> {
    caller: &'a Caller,
    what: Counted,
    /// What the counter is called where nodes share it.
    counter: &'a str,
}

impl Turnstile {
    /// With these limits.
    pub fn new(limits: Limits) -> Turnstile {
        Turnstile(ArcSwap::from_pointee(Allowances::new(limits)))
    }

    /// Other limits from now on, whether they differ or not. Those that stay as they were keep their counts.
    pub fn replace(&self, limits: Limits) -> bool {
        let differ = *self.0.load().limits() != limits;
        if differ {
            self.0.store(Arc::new(Allowances::new(limits)));
        }
        differ
    }

    /// How many buckets are in use.
    pub(crate) fn buckets(&self) -> usize {
        self.0.load().buckets()
    }

    /// A request comes in.
    pub(crate) async fn enter(&self, caller: &Caller, state: &dyn SharedState) -> Result<Passage, Fault> {
        let now = self.0.load();
        let mut passage = Passage::default();
        let allowance = now.limits().of(caller);
        if allowance == Allowance::default() {
            return Ok(passage);
        }
        let now = Guard::into_inner(now);
        let turned = Turned { caller, what: Counted::Requests, counter: "" };
        turned.pass(&now, allowance, state, &mut passage).await?;
        Ok(passage)
    }

    /// A tool is about to be called: `server__tool`, with the server's own name of it.
    pub(crate) async fn call(
        &self,
        caller: &Caller,
        tool: &str,
        state: &dyn SharedState,
    ) -> Result<Passage, Fault> {
        let now = self.0.load_full();
        let mut passage = Passage::default();
        for (line, allowance) in now.limits().of_tool(tool) {
            let counter = format!("tools:{line}:");
            let turned = Turned { caller, what: Counted::Tools(line), counter: &counter };
            turned.pass(&now, allowance, state, &mut passage).await?;
        }
        Ok(passage)
    }

    /// Whether tools are limited at all.
    pub(crate) fn limits_tools(&self) -> bool {
        !self.0.load().limits().tools.is_empty()
    }

    /// Somebody who keeps asking for what is not there, or not allowed, learns nothing more from it for a while. What
    /// went well is never touched, and neither is what may have done something.
    pub(crate) fn temper(&self, fault: Fault, caller: &Caller) -> Fault {
        let is_fruitless = matches!(fault.kind(), Kind::NotFound | Kind::Denied | Kind::Malformed);
        if !is_fruitless || fault.effect() != Effect::None {
            return fault;
        }
        match self.0.load().err(caller, Instant::now()) {
            Ok(()) => fault,
            Err(wait) => too_many("errors", wait).absorbing(fault),
        }
    }
}

impl Turned<'_> {
    async fn pass(
        &self,
        now: &Allowances,
        allowance: Allowance,
        state: &dyn SharedState,
        passage: &mut Passage,
    ) -> Result<(), Fault> {
        if let Some(rate) = allowance.rate {
            self.count(now, rate, state).await?;
        }
        if let Some(most) = allowance.concurrency {
            let place = now.enter(self.caller, self.what, most);
            let full = || too_many(self.named("concurrency", "tool_concurrency"), BUSY).fact("limit", most);
            passage._places.push(place.ok_or_else(full)?);
        }
        Ok(())
    }

    async fn count(&self, now: &Allowances, rate: Rate, state: &dyn SharedState) -> Result<(), Fault> {
        let counted = match state.node() {
            Some(_) => state.take(&format!("{}{}", self.counter, self.caller), rate).await?,
            None => Turn::Uncounted,
        };
        let turn = match counted {
            Turn::Now => Ok(()),
            Turn::Wait(wait) => Err(wait),
            Turn::Uncounted => now.take(self.caller, self.what, rate, Instant::now()),
        };
        turn.map_err(|wait| too_many(self.named("rate", "tool_rate"), wait))
    }

    fn named(&self, of_all: &'static str, of_tools: &'static str) -> &'static str {
        if matches!(self.what, Counted::Tools(_)) { of_tools } else { of_all }
    }
}

/// How long to wait for something else to end; nobody knows better.
const BUSY: Duration = Duration::from_secs(1);

fn too_many(of: &'static str, wait: Duration) -> Fault {
    Fault::new(&reason::POLICY_RATE_LIMITED).fact("exceeded", of).retry_as(Retry::After(wait))
}

#[cfg(test)]
mod tests {
    use super::Turnstile;
    use failwell_fault::{Effect, Fault, reason};
    use failwell_policy::{Caller, Limits, Rate};

    #[test]
    fn only_fruitless_failures_without_effect_are_slowed_down() {
        let errors = Some(Rate { per_second: 0.01, burst: 1.0 });
        let turnstile = Turnstile::new(Limits { errors, ..Limits::default() });
        let caller = Caller::keyholder("a");
        let told = |fault: Fault| turnstile.temper(fault, &caller).reason().id;
        assert_eq!(told(Fault::new(&reason::MCP_UNKNOWN_TOOL)), "mcp/UNKNOWN_TOOL");
        for row in [&reason::MCP_UNKNOWN_TOOL, &reason::POLICY_DENIED, &reason::RPC_NOT_JSON] {
            assert_eq!(told(Fault::new(row)), "policy/RATE_LIMITED", "{}", row.id);
        }
        assert_eq!(told(Fault::new(&reason::GATEWAY_UPSTREAM_TIMEOUT)), "gateway/UPSTREAM_TIMEOUT");
        let done = Fault::new(&reason::POLICY_BLOCKED).with_effect(Effect::Unknown);
        assert_eq!(told(done), "policy/BLOCKED", "a repeat would do it twice");
        let slowed = turnstile.temper(Fault::new(&reason::MCP_UNKNOWN_TOOL), &caller);
        assert!(slowed.operator().to_string().contains("mcp/UNKNOWN_TOOL"), "the operator still knows");
        assert!(!slowed.to_string().contains("UNKNOWN_TOOL"));
    }
}
