//! The memory that request bodies may hold: in total, and per named caller.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use failwell_fault::{Fault, reason};
use failwell_rpc::Caller;
use parking_lot::Mutex;

/// The unit in which a body of unknown length takes its share.
const STEP: usize = 1024 * 1024;

/// The limits of all bodies of a listener, and what they hold.
#[derive(Debug)]
pub struct BodyBudget {
    most: usize,
    most_per_caller: usize,
    held: Mutex<HeldBytes>,
}

#[derive(Debug, Default)]
struct HeldBytes {
    total: usize,
    callers: HashMap<Arc<str>, usize>,
}

impl BodyBudget {
    pub fn new(most: usize, most_per_caller: usize) -> BodyBudget {
        BodyBudget { most, most_per_caller, held: Mutex::default() }
    }

    /// The bytes that bodies hold.
    pub(in crate::http) fn held(&self) -> usize {
        self.held.lock().total
    }

    /// An empty share of a caller. Callers without a name have no limit of their own.
    pub(in crate::http) fn share(self: &Arc<Self>, caller: Option<&Caller>) -> BodyShare {
        let caller = caller.filter(|caller| **caller != Caller::anonymous());
        BodyShare { budget: self.clone(), caller: caller.map(|caller| caller.name().clone()), bytes: 0 }
    }
}

/// A part of the budget; given back on drop.
#[derive(Debug)]
pub(in crate::http) struct BodyShare {
    budget: Arc<BodyBudget>,
    caller: Option<Arc<str>>,
    bytes: usize,
}

impl BodyShare {
    /// Takes exactly this many bytes.
    pub(in crate::http) fn take(&mut self, bytes: usize) -> Result<(), Fault> {
        let more = bytes.saturating_sub(self.bytes);
        let mut held = self.budget.held.lock();
        if let Some(caller) = &self.caller {
            let own = held.callers.get(caller).copied().unwrap_or(0);
            if own.saturating_add(more) > self.budget.most_per_caller {
                let limit = self.budget.most_per_caller;
                return Err(Fault::new(&reason::HTTP_TOO_MANY_BODIES).fact("limit", limit));
            }
        }
        if held.total.saturating_add(more) > self.budget.most {
            return Err(Fault::new(&reason::HTTP_BODIES_FULL));
        }
        held.total += more;
        if let Some(caller) = &self.caller {
            *held.callers.entry(caller.clone()).or_default() += more;
        }
        drop(held);
        self.bytes += more;
        Ok(())
    }

    /// Takes enough for a body that has grown to this length.
    pub(super) fn grow(&mut self, length: usize) -> Result<(), Fault> {
        if length <= self.bytes { Ok(()) } else { self.take(length.next_multiple_of(STEP)) }
    }

    /// Ties the share to its bytes: it is given back when the last reference to them is dropped.
    pub(super) fn hold(self, bytes: Bytes) -> Bytes {
        if self.bytes == 0 { bytes } else { Bytes::from_owner(HeldBody { bytes, _share: self }) }
    }
}

impl Drop for BodyShare {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let mut held = self.budget.held.lock();
        held.total = held.total.saturating_sub(self.bytes);
        let Some(caller) = &self.caller else { return };
        let left = held.callers.get_mut(caller).map(|own| {
            *own = own.saturating_sub(self.bytes);
            *own
        });
        if left == Some(0) {
            held.callers.remove(caller);
        }
    }
}

struct HeldBody {
    bytes: Bytes,
    _share: BodyShare,
}

impl AsRef<[u8]> for HeldBody {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use failwell_rpc::Caller;

    use super::BodyBudget;

    #[test]
    fn bodies_share_the_budget_until_they_are_dropped() {
        let budget = Arc::new(BodyBudget::new(100, 60));
        let (ann, bob) = (Caller::keyholder("ann"), Caller::keyholder("bob"));
        let mut first = budget.share(Some(&ann));
        first.take(50).expect("room");
        let refused = budget.share(Some(&ann)).take(11).expect_err("more than her share");
        assert_eq!(refused.reason().id, "http/TOO_MANY_BODIES");
        let mut second = budget.share(Some(&bob));
        let refused = second.take(51).expect_err("more than all");
        assert_eq!(refused.reason().id, "http/BODIES_FULL");
        second.take(50).expect("room");
        let held = first.hold(Bytes::from_static(b"body"));
        drop(second);
        assert_eq!((budget.held(), &held.clone()[..]), (50, &b"body"[..]));
        drop(held);
        assert_eq!(budget.held(), 0);
        assert!(budget.held.lock().callers.is_empty());
        budget.share(Some(&Caller::anonymous())).take(100).expect("no limit of their own");
    }
}
