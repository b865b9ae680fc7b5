//! The strict scan: one pass over the bytes that decides whether they are JSON we accept, and remembers where
//! the parts of the message are.

mod batch;
mod defect;
mod envelope;
mod keys;
mod limits;
mod members;
mod name;
mod nesting;
pub(crate) mod number;
pub(crate) mod space;
pub(crate) mod text;
pub(crate) mod unescape;
mod walk;

pub(crate) use batch::scan_text;
pub use batch::{Scan, scan};
pub use defect::Defect;
pub use envelope::{Envelope, Slot};
pub use limits::Limits;
pub(crate) use members::Members;

use defect::Syntax;

/// A half-open range of byte offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
}

impl Span {
    /// The text the span covers; empty when it does not fit, which scanned spans always do.
    pub(crate) fn of(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or_default()
    }

    /// The bytes the span covers, without the check for character boundaries.
    #[inline(always)]
    pub(crate) fn of_bytes(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start..self.end).unwrap_or_default()
    }
}

/// The byte at an offset, or 0 past the end: no JSON token starts with 0, so both are the same refusal.
#[inline(always)]
pub(crate) fn byte(bytes: &[u8], at: usize) -> u8 {
    match bytes.get(at) {
        Some(byte) => *byte,
        None => 0,
    }
}
