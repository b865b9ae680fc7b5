//! What carries records and spans out of this program, beside the walk.

mod tally;
mod way;

use std::time::Duration;

use failwell_fault::Fault;

pub use self::tally::Tally;
pub use self::way::{Hurry, Way};
use crate::journal::Journal;

/// A carrier works on its own. It is asked how it is doing, and told to hurry before the end.
pub trait Carrier: Send + Sync {
    /// How it is doing: one row for each sort of thing it carries.
    fn health(&self) -> Vec<CarrierHealth>;
    /// Waits until everything handed over so far has arrived, at most for so long.
    fn flush(&self, patience: Duration);
}

/// How a carrier is doing, in numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CarrierHealth {
    /// What is carried where: a literal, used as a label.
    pub to: &'static str,
    /// Whether the last attempt worked.
    pub works: bool,
    /// What has arrived.
    pub sent: u64,
    /// What never will.
    pub dropped: u64,
    /// Attempts that failed.
    pub failures: u64,
    /// What waits.
    pub waiting: u64,
    /// How old the oldest of what was last carried was when it arrived.
    pub lag: Duration,
}

impl Journal {
    /// A carrier cannot do its work; `why` says what is wrong.
    pub fn carrier_fails(&self, to: &'static str, why: &Fault) {
        self.note_trouble("what is written down cannot be carried elsewhere", to, why);
    }

    /// A carrier lost something for good.
    pub fn carrier_drops(&self, to: &'static str, why: &Fault) {
        self.note_trouble("something was not carried elsewhere and will not be", to, why);
    }

    /// A carrier can do its work again.
    pub fn carrier_works(&self, to: &'static str) {
        self.note_event("what is written down is carried elsewhere again", to);
    }
}
