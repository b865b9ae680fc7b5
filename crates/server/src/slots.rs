//! How many may do something at once. Nobody waits for a place, so a number is all it takes.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The places that are free.
#[derive(Debug)]
pub(crate) struct Slots(AtomicUsize);

/// A place that is taken until this is dropped.
#[derive(Debug)]
pub(crate) struct Slot<'a>(&'a Slots);

impl Slots {
    /// So many.
    pub(crate) fn new(most: usize) -> Slots {
        Slots(AtomicUsize::new(most))
    }

    /// A place, if one is free.
    pub(crate) fn take(&self) -> Option<Slot<'_>> {
        let one_less = |free: usize| free.checked_sub(1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).ok().map(|_| Slot(self))
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::Slots;

    #[test]
    fn a_place_is_given_back_when_it_is_left() {
        let slots = Slots::new(2);
        let (first, second) = (slots.take(), slots.take());
        assert!(first.is_some() && second.is_some());
        assert!(slots.take().is_none());
        drop(first);
        let third = slots.take();
        assert!(third.is_some() && slots.take().is_none());
        assert!(Slots::new(0).take().is_none());
    }
}
