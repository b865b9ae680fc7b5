//! The log of received calls.

use std::collections::VecDeque;

/// A call that can be logged.
pub trait LoggedCall: Clone {
    /// The capacity of the log; the oldest calls are dropped first.
    const MOST: usize;

    /// Sets the number of the call, counted from 1.
    fn set_number(&mut self, number: u64);
}

/// The latest calls, the oldest first.
#[derive(Debug)]
pub struct CallLog<C> {
    all: VecDeque<C>,
    count: u64,
}

impl<C> Default for CallLog<C> {
    fn default() -> Self {
        CallLog { all: VecDeque::new(), count: 0 }
    }
}

impl<C: LoggedCall> CallLog<C> {
    /// Numbers a call and stores it.
    pub fn push(&mut self, mut call: C) {
        self.count += 1;
        call.set_number(self.count);
        if self.all.len() >= C::MOST {
            self.all.pop_front();
        }
        self.all.push_back(call);
    }

    /// All stored calls, the oldest first.
    pub fn all(&self) -> Vec<C> {
        self.all.iter().cloned().collect()
    }

    /// Removes all calls. Numbering continues.
    pub fn clear(&mut self) {
        self.all.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{CallLog, LoggedCall};

    #[derive(Clone)]
    struct Call(u64);

    impl LoggedCall for Call {
        const MOST: usize = 3;

        fn set_number(&mut self, number: u64) {
            self.0 = number;
        }
    }

    #[test]
    fn the_latest_entries_stay_and_numbers_continue() {
        let mut calls = CallLog::default();
        let numbers = |calls: &CallLog<Call>| calls.all().iter().map(|call| call.0).collect::<Vec<_>>();
        (0..5).for_each(|_| calls.push(Call(0)));
        assert_eq!(numbers(&calls), [3, 4, 5]);
        calls.clear();
        calls.push(Call(0));
        assert_eq!(numbers(&calls), [6]);
    }
}
