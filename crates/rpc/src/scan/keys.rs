//! Duplicate keys. Narrow objects are compared key by key as they are read; wide ones are sorted once when they
//! close, which needs no table per object and has no hash an attacker could aim at.

use super::Span;
use super::text::Form;
use super::unescape::{unescape, unescape_into};

/// Objects up to this many keys are checked by comparison.
const NARROW: usize = 16;

/// Room that is kept from one message to the next.
const KEPT: usize = 16 * 1024;

#[derive(Clone, Copy)]
struct Key {
    /// Equal for equal decoded keys; mostly different for different ones.
    print: u64,
    inner: Span,
}

/// The keys of every open object, innermost last.
#[derive(Default)]
pub(super) struct Keys {
    keys: Vec<Key>,
    outer: Vec<usize>,
    base: usize,
    decoded: String,
}

/// What a new key is to its object.
pub(super) enum Admission {
    Fresh,
    Repeated,
    OverLimit,
}

impl Keys {
    pub(super) fn clear(&mut self) {
        if self.keys.capacity() > KEPT || self.decoded.capacity() > KEPT {
            *self = Self::default();
        }
        self.keys.clear();
        self.outer.clear();
        self.base = 0;
    }

    #[inline]
    pub(super) fn open(&mut self) {
        self.outer.push(self.base);
        self.base = self.keys.len();
    }

    /// Adds the key between the quotes at `inner`.
    #[inline]
    pub(super) fn admit(&mut self, text: &str, inner: Span, form: Form, limit: usize) -> Admission {
        let print = match form {
            Form::Plain => print(inner.of(text).as_bytes()),
            Form::Escaped | Form::Lone => self.decoded_print(inner.of(text)),
        };
        let siblings = self.keys.get(self.base..).unwrap_or_default();
        let count = siblings.len();
        if count >= limit {
            return Admission::OverLimit;
        }
        if count <= NARROW && siblings.iter().any(|key| key.print == print && same(text, key.inner, inner)) {
            return Admission::Repeated;
        }
        self.keys.push(Key { print, inner });
        Admission::Fresh
    }

    /// Forgets the innermost object; the offset of a repeated key when it was wide and had one.
    #[inline]
    pub(super) fn close(&mut self, text: &str) -> Option<usize> {
        let wide = self.keys.len() - self.base.min(self.keys.len()) > NARROW;
        let repeated = if wide { self.repeated_in_wide(text) } else { None };
        self.keys.truncate(self.base);
        self.base = self.outer.pop().unwrap_or_default();
        repeated
    }

    #[cold]
    fn repeated_in_wide(&mut self, text: &str) -> Option<usize> {
        let siblings = self.keys.get_mut(self.base..)?;
        siblings.sort_unstable_by_key(|key| key.print);
        let mut repeated = None;
        for run in siblings.chunk_by_mut(|left, right| left.print == right.print) {
            if run.len() > 1 {
                repeated = repeated.or_else(|| repeated_in_run(text, run));
            }
        }
        repeated
    }

    #[cold]
    fn decoded_print(&mut self, inner: &str) -> u64 {
        self.decoded.clear();
        // Half a character never reaches here: its defect ends the watch for duplicates.
        let _ = unescape_into(inner, &mut self.decoded);
        print(self.decoded.as_bytes())
    }
}

/// Keys that share a print, by chance or by malice, are sorted by value: still no quadratic work.
fn repeated_in_run(text: &str, run: &mut [Key]) -> Option<usize> {
    run.sort_unstable_by(|left, right| {
        let order = unescape(left.inner.of(text)).cmp(&unescape(right.inner.of(text)));
        order.then(left.inner.start.cmp(&right.inner.start))
    });
    let pairs = run.iter().zip(run.iter().skip(1));
    pairs
        .filter(|(left, right)| same(text, left.inner, right.inner))
        .map(|(_, right)| right.inner.start - 1)
        .min()
}

fn same(text: &str, left: Span, right: Span) -> bool {
    unescape(left.of(text)) == unescape(right.of(text))
}

const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// A cheap fingerprint of all of the key's bytes.
#[inline]
fn print(key: &[u8]) -> u64 {
    let mut print = key.len() as u64;
    let mut rest = key;
    while let Some((word, tail)) = rest.split_first_chunk::<8>() {
        print = (print ^ u64::from_le_bytes(*word)).wrapping_mul(MIX).rotate_left(29);
        rest = tail;
    }
    let mut last = 0;
    for byte in rest {
        last = last << 8 | u64::from(*byte);
    }
    (print ^ last).wrapping_mul(MIX)
}
