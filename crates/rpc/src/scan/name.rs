//! Keys: one pass over the words finds the end of the string and its fingerprint.

use super::text::{Form, Text, escaped, marks, skip_plain};
use super::{Span, Syntax, byte};

const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline(always)]
fn mix(print: u64, word: u64) -> u64 {
    (print.rotate_left(29) ^ word).wrapping_mul(MIX)
}

/// A key: its end, and its fingerprint if it has no escapes.
#[derive(Clone, Copy)]
pub(super) struct Name {
    pub(super) text: Text,
    pub(super) print: u64,
}

/// Checks the key that opens at `open`.
#[inline(always)]
pub(super) fn name(bytes: &[u8], open: usize) -> Result<Name, Syntax> {
    let (mut at, mut print) = (open + 1, 0);
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let marks = marks(word);
        if marks != 0 {
            let stop = marks.trailing_zeros() / 8;
            let kept = word & ((1 << (stop * 8)) - 1);
            return finish(bytes, at + stop as usize, mix(print, kept));
        }
        print = mix(print, word);
        at += 8;
    }
    last_name(bytes, open)
}

#[inline(always)]
fn finish(bytes: &[u8], at: usize, print: u64) -> Result<Name, Syntax> {
    let text = match byte(bytes, at) {
        b'"' => Text { end: at + 1, form: Form::Plain },
        _ => escaped(bytes, at)?,
    };
    Ok(Name { text, print })
}

/// A key within eight bytes of the end, which occurs only in invalid or tiny messages.
#[cold]
fn last_name(bytes: &[u8], open: usize) -> Result<Name, Syntax> {
    let at = skip_plain(bytes, open + 1);
    finish(bytes, at, print_of(Span { start: open + 1, end: at }.of_bytes(bytes)))
}

/// The fingerprint of decoded text. It is equal for equal text on both code paths.
pub(super) fn print_of(key: &[u8]) -> u64 {
    let (words, rest) = key.as_chunks::<8>();
    let print = words.iter().fold(0, |print, word| mix(print, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    for (place, byte) in last.iter_mut().zip(rest) {
        *place = *byte;
    }
    mix(print, u64::from_le_bytes(last))
}

#[cfg(test)]
mod tests {
    use super::{name, print_of};

    /// Only equal fingerprints are compared for duplicates, so both code paths must agree.
    #[test]
    fn both_ways_give_the_same_print() {
        let letters = "abcdefghijklmnopqrstuvwxyzäöü😀ABCDEFGHIJKLMNOP";
        for (length, _) in letters.char_indices() {
            let key = &letters[..length];
            for after in ["", ":", ":1}", ":\"some more text\"}"] {
                let text = format!("\"{key}\"{after}");
                let found = name(text.as_bytes(), 0).unwrap();
                assert_eq!((found.text.end, found.print), (length + 2, print_of(key.as_bytes())), "{text}");
            }
        }
    }
}
