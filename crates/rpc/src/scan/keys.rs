//! Detection of duplicate keys. Narrow objects compare each key as it is read. Wide objects sort their keys
//! once when they close. This needs no table per object and no hash that an attacker could target.

use super::Span;
use super::name::{Name, print_of};
use super::text::Form;
use super::unescape::{unescape, unescape_into};

/// Objects with up to this many keys are checked by comparison.
const NARROW: usize = 16;

/// Capacity that is kept between messages.
const KEPT: usize = 16 * 1024;

#[derive(Clone, Copy)]
struct SeenKey {
    /// Equal for equal decoded keys, and usually different for different ones.
    print: u64,
    inner: Span,
}

/// One open object: the index of its first key, and a bit for each fingerprint. The bits identify most new
/// keys as new without a comparison.
#[derive(Clone, Copy, Default)]
struct Frame {
    base: usize,
    seen: u64,
}

/// The keys of all open objects, innermost last.
#[derive(Default)]
pub(super) struct Keys {
    keys: Vec<SeenKey>,
    outer: Vec<Frame>,
    frame: Frame,
    decoded: String,
}

/// The result of adding a key.
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
        self.frame = Frame::default();
    }

    #[inline]
    pub(super) fn open(&mut self) {
        self.outer.push(self.frame);
        self.frame = Frame { base: self.keys.len(), seen: 0 };
    }

    /// Adds the key between the quotes at `inner`.
    #[inline]
    pub(super) fn admit(&mut self, text: &str, inner: Span, name: Name, limit: usize) -> Admission {
        let print = match name.text.form {
            Form::Plain => name.print,
            Form::Escaped | Form::Lone => self.decoded_print(inner.of(text)),
        };
        let count = self.keys.len() - self.frame.base;
        if count >= limit {
            return Admission::OverLimit;
        }
        let bit = 1 << (print >> 58);
        if self.frame.seen & bit != 0 && count <= NARROW && self.is_among_siblings(text, print, inner) {
            return Admission::Repeated;
        }
        self.frame.seen |= bit;
        self.keys.push(SeenKey { print, inner });
        Admission::Fresh
    }

    /// Closes the innermost object. Returns the offset of a repeated key if the object was wide and has one.
    #[inline]
    pub(super) fn close(&mut self, text: &str) -> Option<usize> {
        let wide = self.keys.len() - self.frame.base > NARROW;
        let repeated = if wide { self.repeated_in_wide(text) } else { None };
        self.keys.truncate(self.frame.base);
        self.frame = self.outer.pop().unwrap_or_default();
        repeated
    }

    fn is_among_siblings(&self, text: &str, print: u64, inner: Span) -> bool {
        let siblings = self.keys.get(self.frame.base..).unwrap_or_default();
        siblings.iter().any(|key| key.print == print && same(text, key.inner, inner))
    }

    #[cold]
    fn repeated_in_wide(&mut self, text: &str) -> Option<usize> {
        let siblings = self.keys.get_mut(self.frame.base..)?;
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
        // A lone surrogate never reaches this line: its defect ends the detection of duplicates.
        let _ = unescape_into(inner, &mut self.decoded);
        print_of(self.decoded.as_bytes())
    }
}

/// Keys with equal fingerprints, by chance or by attack, are sorted by value, each decoded once. The work is
/// never quadratic.
fn repeated_in_run(text: &str, run: &mut [SeenKey]) -> Option<usize> {
    run.sort_by_cached_key(|key| (unescape(key.inner.of(text)), key.inner.start));
    let pairs = run.iter().zip(run.iter().skip(1));
    pairs
        .filter(|(left, right)| same(text, left.inner, right.inner))
        .map(|(_, right)| right.inner.start - 1)
        .min()
}

fn same(text: &str, left: Span, right: Span) -> bool {
    unescape(left.of(text)) == unescape(right.of(text))
}
