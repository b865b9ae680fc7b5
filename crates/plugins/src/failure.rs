use failwell_fault::{Fault, reason};

/// There is no verdict, for a reason callers may hear.
#[track_caller]
pub(crate) fn no_verdict(why: &'static str) -> Fault {
    Fault::new(&reason::POLICY_GUARD_FAILED).fact("why", why)
}

/// Too many questions wait already.
#[track_caller]
pub(crate) fn busy() -> Fault {
    no_verdict("too many questions wait for it")
}
