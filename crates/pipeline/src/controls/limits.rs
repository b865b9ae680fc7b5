use std::any::Any;
use std::fmt::Debug;

use failwell_fault::Fault;
use failwell_rpc::Caller;
use failwell_toolbox::PortFuture;

/// Rate and concurrency limits of callers and tools.
pub trait RateLimits: Debug + Send + Sync {
    fn admit<'a>(&'a self, caller: &'a Caller) -> Admission<'a>;
    /// Admits one call of a tool, named `server__tool`.
    fn admit_tool<'a>(&'a self, caller: &'a Caller, tool: &'a str) -> Admission<'a>;
    fn limits_tools(&self) -> bool;
    /// Replaces the fault of a caller that has caused too many errors.
    fn throttle_errors(&self, fault: Fault, caller: &Caller) -> Fault;
}

pub enum Admission<'a> {
    /// The decision is known.
    Now(Result<Permit, Fault>),
    /// Other nodes take part in the decision.
    Pending(PortFuture<'a, Result<Permit, Fault>>),
}

/// The resources that a running request occupies; released on drop.
#[derive(Debug, Default)]
pub struct Permit(#[expect(dead_code, reason = "held until it is dropped")] Option<Box<dyn Any + Send>>);

impl Permit {
    /// Creates a permit that drops `held` with itself.
    pub fn holding(held: impl Any + Send) -> Permit {
        Permit(Some(Box::new(held)))
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct NoLimits;

impl RateLimits for NoLimits {
    fn admit<'a>(&'a self, _: &'a Caller) -> Admission<'a> {
        Admission::Now(Ok(Permit::default()))
    }

    fn admit_tool<'a>(&'a self, _: &'a Caller, _: &'a str) -> Admission<'a> {
        Admission::Now(Ok(Permit::default()))
    }

    fn limits_tools(&self) -> bool {
        false
    }

    fn throttle_errors(&self, fault: Fault, _: &Caller) -> Fault {
        fault
    }
}
