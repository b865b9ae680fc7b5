//! Requests that were refused before their caller was identified: the first ones get a record each, repeats are
//! counted.
//!
//! Anybody who reaches the listener can send such requests. They must not decide how fast the ledger and the log grow.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

use failwell_render::Moment;
use parking_lot::Mutex;

/// The period after which counts are written and sampling begins anew.
const WINDOW: Duration = Duration::from_secs(60);
/// Records of one kind in a window. Further refusals of the kind are counted.
const RECORDS_OF_A_KIND: u64 = 50;
/// Records of all kinds in a window.
const RECORDS: u64 = 500;
/// Kinds that are counted apart in a window. Further addresses are counted together.
const KINDS: usize = 256;

/// Decides which refusals get a record of their own, and counts the others.
#[derive(Debug, Default)]
pub(crate) struct RefusalSampler(Mutex<Window>);

#[derive(Debug, Default)]
struct Window {
    began: Option<(Instant, Moment)>,
    recorded: u64,
    kinds: HashMap<RefusalKind, Tally>,
}

/// Refusals with the same reason from the same address.
type RefusalKind = (Option<IpAddr>, &'static str);

#[derive(Debug, Default)]
struct Tally {
    recorded: u64,
    counted: u64,
}

/// The repeats of one kind in a window.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RefusalCount {
    /// `None`: of several addresses, counted together.
    pub(crate) address: Option<IpAddr>,
    pub(crate) reason: &'static str,
    pub(crate) count: u64,
    /// The beginning of the window.
    pub(crate) since: Moment,
}

/// How the window of the counts ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WindowEnd {
    /// By itself; before that nothing is taken.
    Elapsed,
    /// Early, because the ledger is closed.
    Forced,
}

impl RefusalSampler {
    /// Returns true if a refusal gets a record of its own. Otherwise it is counted.
    pub(crate) fn admit(&self, address: IpAddr, reason: &'static str) -> bool {
        let mut window = self.0.lock();
        window.began.get_or_insert_with(|| (Instant::now(), Moment::now()));
        let is_full = window.recorded >= RECORDS;
        let known = window.kinds.len() < KINDS;
        let network = Some(network(address));
        let kind = if known || window.kinds.contains_key(&(network, reason)) { network } else { None };
        let tally = window.kinds.entry((kind, reason)).or_default();
        if is_full || tally.recorded >= RECORDS_OF_A_KIND {
            tally.counted += 1;
            return false;
        }
        tally.recorded += 1;
        window.recorded += 1;
        true
    }

    /// Takes the counts if their window has ended, and begins a new one.
    pub(crate) fn take(&self, end: WindowEnd) -> Vec<RefusalCount> {
        let mut window = self.0.lock();
        let Some((began, since)) = window.began else { return Vec::new() };
        if end == WindowEnd::Elapsed && began.elapsed() < WINDOW {
            return Vec::new();
        }
        let kinds = std::mem::take(&mut *window).kinds;
        let repeated = kinds.into_iter().filter(|(_, tally)| tally.counted > 0);
        let count = |((address, reason), tally): (RefusalKind, Tally)| RefusalCount {
            address,
            reason,
            count: tally.counted,
            since,
        };
        let mut counts: Vec<RefusalCount> = repeated.map(count).collect();
        counts.sort_by(|a, b| (b.count, a.reason, a.address).cmp(&(a.count, b.reason, b.address)));
        counts
    }
}

/// One host usually has a whole /64 of IPv6.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_counted_and_the_count_is_taken_once() {
        let sampler = RefusalSampler::default();
        let address = IpAddr::from([192, 0, 2, 1]);
        let recorded = (0..1_000).filter(|_| sampler.admit(address, "policy/UNAUTHENTICATED")).count();
        assert_eq!(recorded as u64, RECORDS_OF_A_KIND);
        assert!(sampler.admit(address, "http/UNKNOWN_PATH"), "another kind has records of its own");
        assert!(sampler.take(WindowEnd::Elapsed).is_empty(), "the window is not over");
        let counts = sampler.take(WindowEnd::Forced);
        let [only] = counts.as_slice() else { panic!("{counts:?}") };
        assert_eq!((only.address, only.count), (Some(address), 1_000 - RECORDS_OF_A_KIND));
        assert!(sampler.take(WindowEnd::Forced).is_empty());
    }

    #[test]
    fn many_addresses_cost_no_more_than_the_window_has() {
        let sampler = RefusalSampler::default();
        let address = |number: u32| IpAddr::from(number.to_be_bytes());
        let recorded =
            (0..100_000).filter(|number| sampler.admit(address(*number), "http/HOST")).count() as u64;
        assert_eq!(recorded, KINDS as u64 + RECORDS_OF_A_KIND);
        let counts = sampler.take(WindowEnd::Forced);
        assert_eq!(counts.iter().map(|count| count.count).sum::<u64>(), 100_000 - recorded);
        assert_eq!(counts.first().map(|count| count.address), Some(None));
    }
}
