//! The hash chain: the hash of each record covers the record and the previous hash.

use std::fmt;

use sha2::{Digest, Sha256};

/// The hash of one record; it also covers all records before it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RecordHash([u8; 32]);

impl RecordHash {
    /// The hash before the first record.
    pub fn genesis() -> RecordHash {
        RecordHash(Sha256::digest(b"failwell ledger 1").into())
    }

    /// The hash of the next record: over the previous hash, the sequence number and the exact bytes.
    pub fn next(self, seq: i64, body: &[u8]) -> RecordHash {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update(seq.to_be_bytes());
        hash.update(body);
        RecordHash(hash.finalize().into())
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns `None` if the bytes are not a hash.
    pub fn from_bytes(bytes: &[u8]) -> Option<RecordHash> {
        bytes.try_into().ok().map(RecordHash)
    }

    /// Reads the output of `Display`.
    pub fn parse(text: &str) -> Option<RecordHash> {
        RecordHash::from_bytes(&hex::decode(text).ok()?)
    }
}

impl fmt::Display for RecordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for RecordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RecordHash({self})")
    }
}

/// The end of the chain: the sequence number and hash of its last record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainHead {
    pub seq: i64,
    pub hash: RecordHash,
}

impl ChainHead {
    /// The head of an empty ledger.
    pub fn genesis() -> ChainHead {
        ChainHead { seq: 0, hash: RecordHash::genesis() }
    }

    /// Reads the output of `Display`: `12:9f86…`.
    pub fn parse(text: &str) -> Option<ChainHead> {
        let (seq, hash) = text.trim().split_once(':')?;
        Some(ChainHead { seq: seq.parse().ok()?, hash: RecordHash::parse(hash)? })
    }
}

impl fmt::Display for ChainHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::{ChainHead, RecordHash};

    #[test]
    fn a_head_is_read_as_it_is_written() {
        let head = ChainHead { seq: 12, hash: RecordHash::genesis().next(12, b"{}") };
        assert_eq!(ChainHead::parse(&head.to_string()), Some(head));
        for odd in ["", "12", "12:", "x:00", "12:zz", &format!("1:{}", "é".repeat(32))] {
            assert_eq!(ChainHead::parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_hash_depends_on_everything_before_it() {
        let start = RecordHash::genesis();
        assert_ne!(start.next(1, b"a"), start.next(2, b"a"));
        assert_ne!(start.next(1, b"a"), start.next(1, b"b"));
        assert_ne!(start.next(1, b"a").next(2, b"c"), start.next(1, b"b").next(2, b"c"));
    }
}
