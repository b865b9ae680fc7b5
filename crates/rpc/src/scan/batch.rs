//! The whole input: one message or a batch.

use super::space::skip_space;
use super::walk::{Scratch, Walk};
use super::{Defect, Envelope, Limits, Places, Syntax, byte};
use std::cell::{Cell, RefCell};

/// The content of the bytes.
#[derive(Clone, Debug)]
pub enum Scan<E> {
    /// One value that is not an array.
    One(E),
    /// A top-level array, one entry per element.
    Batch(Vec<E>),
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
    static SCANS: Cell<u64> = const { Cell::new(0) };
}

/// The number of scans on this thread so far. With it, tests prove that a message is scanned once.
pub fn scans_of_this_thread() -> u64 {
    SCANS.get()
}

/// Scans all bytes. An error means that no part of them is usable. A defect that leaves the id readable is in
/// the envelope instead.
pub fn scan<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Scan<Envelope<'a>>, Defect> {
    let text = std::str::from_utf8(bytes).map_err(Defect::not_utf8)?;
    Ok(match scan_text(text, limits)? {
        Scan::One(places) => Scan::One(places.within(text)),
        Scan::Batch(each) => Scan::Batch(each.into_iter().map(|places| places.within(text)).collect()),
    })
}

/// Scans text that is known to be UTF-8.
pub(crate) fn scan_text(text: &str, limits: &Limits) -> Result<Scan<Places>, Defect> {
    SCANS.set(SCANS.get() + 1);
    SCRATCH.with(|scratch| match scratch.try_borrow_mut() {
        Ok(mut scratch) => root(text, limits, &mut scratch),
        Err(_) => root(text, limits, &mut Scratch::default()),
    })
}

fn root(text: &str, limits: &Limits, scratch: &mut Scratch) -> Result<Scan<Places>, Defect> {
    let start = skip_space(text.as_bytes(), 0);
    if byte(text.as_bytes(), start) == b'[' {
        return batch(text, start, limits, scratch);
    }
    let places = Walk::new(text, limits, scratch, 0).run(start)?;
    nothing_after(text, places.whole.end)?;
    Ok(Scan::One(places))
}

fn batch(text: &str, open: usize, limits: &Limits, scratch: &mut Scratch) -> Result<Scan<Places>, Defect> {
    let bytes = text.as_bytes();
    let mut messages = Vec::new();
    let mut surplus = None;
    let mut at = skip_space(bytes, open + 1);
    if byte(bytes, at) != b']' {
        loop {
            let places = Walk::new(text, limits, scratch, 1).run(at)?;
            if messages.len() < limits.max_batch {
                messages.push(places);
            } else {
                surplus = surplus.or(Some(at));
            }
            at = skip_space(bytes, places.whole.end);
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
        None => Ok(Scan::Batch(messages)),
    }
}

fn nothing_after(text: &str, end: usize) -> Result<(), Syntax> {
    let rest = skip_space(text.as_bytes(), end);
    if rest == text.len() { Ok(()) } else { Err(Syntax(rest)) }
}
