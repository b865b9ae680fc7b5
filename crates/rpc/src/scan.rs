//! The strict scan: one pass that checks the JSON and records the positions of the message's parts.

mod batch;
mod container_stack;
mod defect;
mod envelope;
mod keys;
mod limits;
mod members;
mod name;
pub(crate) mod number;
pub(crate) mod space;
pub(crate) mod text;
pub(crate) mod unescape;
mod walk;

pub(crate) use batch::scan_text;
pub use batch::{Scan, scan, scans_of_this_thread};
pub use defect::Defect;
pub(crate) use envelope::Places;
pub use envelope::{Envelope, Slot};
pub use limits::Limits;
pub(crate) use members::MemberPlaces;

use defect::Syntax;

/// A half-open range of byte offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    pub start: usize,
    /// The offset after the last byte.
    pub end: usize,
}

impl Span {
    /// The text of the span, or an empty text if it is out of range. Scanned spans never are.
    pub(crate) fn of(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or_default()
    }

    /// The bytes of the span, without the check for character boundaries.
    #[inline(always)]
    pub(crate) fn of_bytes(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start..self.end).unwrap_or_default()
    }
}

/// The byte at an offset, or 0 past the end. No JSON token starts with 0, so both are refused in the same
/// way.
#[inline(always)]
pub(crate) fn byte(bytes: &[u8], at: usize) -> u8 {
    match bytes.get(at) {
        Some(byte) => *byte,
        None => 0,
    }
}
