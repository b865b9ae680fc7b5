//! A concurrency limit without a queue. Requests never wait for a slot, so a counter suffices.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The free slots.
#[derive(Debug)]
pub(crate) struct Slots(AtomicUsize);

/// An occupied slot; freed on drop.
#[derive(Debug)]
pub(crate) struct Slot<'a>(&'a Slots);

impl Slots {
    pub(crate) fn new(most: usize) -> Slots {
        Slots(AtomicUsize::new(most))
    }

    /// Takes a slot, if one is free.
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
