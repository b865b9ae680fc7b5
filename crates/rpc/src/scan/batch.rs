//! The whole input: one message or a batch.

use super::space::skip_space;
use super::walk::{Scratch, Walk};
use super::{Defect, Envelope, Limits, Syntax, byte};
use std::cell::RefCell;

/// The content of the bytes.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "the large variant is the ordinary one and lives on the stack")]
pub enum Scan<'a> {
    /// One value that is not an array.
    One(Envelope<'a>),
    /// A top-level array, one envelope per element.
    Batch(Vec<Envelope<'a>>),
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Scans all bytes. An error means that no part of them is usable. A defect that leaves the id readable is in
/// the envelope instead.
pub fn scan<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Scan<'a>, Defect> {
    let text = std::str::from_utf8(bytes).map_err(|error| Defect::Utf8 { offset: error.valid_up_to() })?;
    scan_text(text, limits)
}

/// Scans text that is known to be UTF-8.
pub(crate) fn scan_text<'a>(text: &'a str, limits: &Limits) -> Result<Scan<'a>, Defect> {
    SCRATCH.with(|scratch| match scratch.try_borrow_mut() {
        Ok(mut scratch) => root(text, limits, &mut scratch),
        Err(_) => root(text, limits, &mut Scratch::default()),
    })
}

fn root<'a>(text: &'a str, limits: &Limits, scratch: &mut Scratch) -> Result<Scan<'a>, Defect> {
    let start = skip_space(text.as_bytes(), 0);
    if byte(text.as_bytes(), start) == b'[' {
        return batch(text, start, limits, scratch);
    }
    let envelope = Walk::new(text, limits, scratch, 0).run(start)?;
    nothing_after(text, envelope.whole.end)?;
    Ok(Scan::One(envelope))
}

fn batch<'a>(text: &'a str, open: usize, limits: &Limits, scratch: &mut Scratch) -> Result<Scan<'a>, Defect> {
    let bytes = text.as_bytes();
    let mut envelopes = Vec::new();
    let mut surplus = None;
    let mut at = skip_space(bytes, open + 1);
    if byte(bytes, at) != b']' {
        loop {
            let envelope = Walk::new(text, limits, scratch, 1).run(at)?;
            if envelopes.len() < limits.max_batch {
                envelopes.push(envelope);
            } else {
                surplus = surplus.or(Some(at));
            }
            at = skip_space(bytes, envelope.whole.end);
            match byte(bytes, at) {
                b',' => at = skip_space(bytes, at + 1),
                b']' => break,
                _ => return Err(Syntax(at).into()),
            }
        }
    }
    nothing_after(text, at + 1)?;
    match surplus {
        Some(offset) => Err(Defect::TooManyMessages { offset, limit: limits.max_batch }),
        None => Ok(Scan::Batch(envelopes)),
    }
}

fn nothing_after(text: &str, end: usize) -> Result<(), Syntax> {
    let rest = skip_space(text.as_bytes(), end);
    if rest == text.len() { Ok(()) } else { Err(Syntax(rest)) }
}
