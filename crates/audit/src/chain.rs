//! The chain: each record's hash covers the record and the hash before it.

use std::fmt;

use sha2::{Digest, Sha256};

/// The hash of one record, which stands for everything before it too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Hash([u8; 32]);

impl Hash {
    /// Before the first record.
    pub fn genesis() -> Hash {
        Hash(Sha256::digest(b"failwell ledger 1").into())
    }

    /// The hash of the record that follows: over the hash before it, its number and its exact bytes.
    pub fn next(self, seq: i64, body: &[u8]) -> Hash {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update(seq.to_be_bytes());
        hash.update(body);
        Hash(hash.finalize().into())
    }

    /// As it is stored.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// From what is stored; `None` when it is no hash.
    pub fn from_bytes(bytes: &[u8]) -> Option<Hash> {
        bytes.try_into().ok().map(Hash)
    }

    /// From what `Display` writes.
    pub fn parse(text: &str) -> Option<Hash> {
        let digits = (text.len() == 64 && text.is_ascii()).then_some(text)?;
        let byte = |at: usize| u8::from_str_radix(digits.get(at * 2..at * 2 + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..32).map(byte).collect();
        Hash::from_bytes(&bytes?)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}

/// The end of the chain: the number and the hash of its last record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The number.
    pub seq: i64,
    /// The hash.
    pub hash: Hash,
}

impl Head {
    /// Of a ledger without records.
    pub fn genesis() -> Head {
        Head { seq: 0, hash: Hash::genesis() }
    }

    /// From what `Display` writes: `12:9f86…`.
    pub fn parse(text: &str) -> Option<Head> {
        let (seq, hash) = text.trim().split_once(':')?;
        Some(Head { seq: seq.parse().ok()?, hash: Hash::parse(hash)? })
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::{Hash, Head};

    #[test]
    fn a_head_is_read_as_it_is_written() {
        let head = Head { seq: 12, hash: Hash::genesis().next(12, b"{}") };
        assert_eq!(Head::parse(&head.to_string()), Some(head));
        for odd in ["", "12", "12:", "x:00", "12:zz", &format!("1:{}", "é".repeat(32))] {
            assert_eq!(Head::parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_hash_depends_on_everything_before_it() {
        let start = Hash::genesis();
        assert_ne!(start.next(1, b"a"), start.next(2, b"a"));
        assert_ne!(start.next(1, b"a"), start.next(1, b"b"));
        assert_ne!(start.next(1, b"a").next(2, b"c"), start.next(1, b"b").next(2, b"c"));
    }
}
