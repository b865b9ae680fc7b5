use failwell_fault::{Fault, reason};

/// The fault of a guard that gave no verdict. `why` is public.
#[track_caller]
pub(crate) fn no_verdict(why: &'static str) -> Fault {
    Fault::new(&reason::POLICY_GUARD_FAILED).fact("why", why)
}

/// The fault of a full queue.
#[track_caller]
pub(crate) fn busy() -> Fault {
    no_verdict("too many questions wait for it")
}
