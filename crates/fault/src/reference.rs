use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The reference a caller can quote and an operator can look up: one per exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ref(u64);

impl Ref {
    const ALPHABET: &'static [u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

    /// A reference nobody was given before by this process, and hardly by another.
    pub fn fresh() -> Ref {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // An odd multiplier makes the walk through u64 a permutation: no repeats, and neighbours look unalike.
        let step = NEXT.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Ref(start().wrapping_add(step))
    }

    /// A chosen reference, for transcripts that must not change.
    pub fn fixed(value: u64) -> Ref {
        Ref(value)
    }
}

/// Where this process begins to count: random, so that two processes do not hand out the same references.
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
