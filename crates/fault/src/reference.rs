use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A reference that a caller quotes and an operator looks up. Each exchange has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ref(u64);

impl Ref {
    const ALPHABET: &'static [u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

    /// A new reference. It is unique in this process, and with high probability across processes.
    pub fn fresh() -> Ref {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // An odd multiplier makes the sequence a permutation of `u64`: it has no repeats, and neighbours
        // differ in many digits.
        let step = NEXT.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Ref(start().wrapping_add(step))
    }

    /// A fixed reference, for transcripts that must not change.
    pub fn fixed(value: u64) -> Ref {
        Ref(value)
    }
}

/// The random start value. It differs between processes, so their references differ too.
fn start() -> u64 {
    static START: OnceLock<u64> = OnceLock::new();
    *START.get_or_init(|| {
        getrandom::u64().unwrap_or_else(|_| u64::from(std::process::id()).wrapping_mul(0x5851_F42D_4C95_7F2D))
    })
}

impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digit = |shift: u32| {
            let index = usize::try_from((self.0 >> shift) & 31).unwrap_or(0);
            char::from(*Self::ALPHABET.get(index).unwrap_or(&b'0'))
        };
        (0..13).rev().try_for_each(|place| fmt::Write::write_char(f, digit(place * 5)))
    }
}

#[cfg(test)]
mod tests {
    use super::Ref;
    use std::collections::HashSet;

    #[test]
    fn references_do_not_repeat_and_are_thirteen_plain_characters() {
        let seen: HashSet<String> = (0..10_000).map(|_| Ref::fresh().to_string()).collect();
        assert_eq!(seen.len(), 10_000);
        assert!(seen.iter().all(|r| r.len() == 13 && r.chars().all(|c| c.is_ascii_alphanumeric())));
    }
}
