//! The log of what was asked.

use std::collections::VecDeque;

/// A call with a number.
pub trait Counted: Clone {
    /// How many are kept; the oldest go first.
    const MOST: usize;

    /// It is the one of this number, counted from 1.
    fn count(&mut self, number: u64);
}

/// The log.
#[derive(Debug)]
pub struct Calls<C> {
    all: VecDeque<C>,
    count: u64,
}

impl<C> Default for Calls<C> {
    fn default() -> Self {
        Calls { all: VecDeque::new(), count: 0 }
    }
}

impl<C: Counted> Calls<C> {
    /// Writes down one more.
    pub fn push(&mut self, mut call: C) {
        self.count += 1;
        call.count(self.count);
        if self.all.len() >= C::MOST {
            self.all.pop_front();
        }
        self.all.push_back(call);
    }

    /// All that are kept, the oldest first.
    pub fn all(&self) -> Vec<C> {
        self.all.iter().cloned().collect()
    }

    /// Forgets them. Numbers go on.
    pub fn clear(&mut self) {
        self.all.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{Calls, Counted};

    #[derive(Clone)]
    struct Call(u64);

    impl Counted for Call {
        const MOST: usize = 3;

        fn count(&mut self, number: u64) {
            self.0 = number;
        }
    }

    #[test]
    fn the_latest_are_kept_and_numbers_go_on() {
        let mut calls = Calls::default();
        let numbers = |calls: &Calls<Call>| calls.all().iter().map(|call| call.0).collect::<Vec<_>>();
        (0..5).for_each(|_| calls.push(Call(0)));
        assert_eq!(numbers(&calls), [3, 4, 5]);
        calls.clear();
        calls.push(Call(0));
        assert_eq!(numbers(&calls), [6]);
    }
}
