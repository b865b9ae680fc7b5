//! Strings: finds the end, checks every escape, detects lone surrogates.

use super::{Syntax, byte};

/// The form of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The text between the quotes is the value.
    Plain,
    /// The text has escapes.
    Escaped,
    /// The text has a lone surrogate, so it has no value.
    Lone,
}

/// The offset after the closing quote, and the form.
#[derive(Clone, Copy)]
pub(crate) struct Text {
    pub(crate) end: usize,
    pub(crate) form: Form,
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Marks bytes that are a quote, a backslash or a control character. A borrow can mark bytes above a real
/// hit, so only the lowest mark is valid.
#[inline(always)]
pub(crate) fn marks(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let slash = word ^ (ONES * b'\\' as u64);
    let quote = quote.wrapping_sub(ONES) & !quote;
    let slash = slash.wrapping_sub(ONES) & !slash;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (quote | slash | control) & HIGH
}

/// The first quote, backslash or control character from `start` on, or the end of the bytes. Most strings are
/// short, so the first words are checked inline.
#[inline(always)]
pub(crate) fn skip_plain(bytes: &[u8], start: usize) -> usize {
    skip(bytes, start, skip_long)
}

/// The same for text that was scanned before. It has no control characters, and a search for two bytes is faster.
#[inline(always)]
pub(crate) fn skip_scanned(bytes: &[u8], start: usize) -> usize {
    skip(bytes, start, |bytes, at| {
        let rest = bytes.get(at..).unwrap_or_default();
        memchr::memchr2(b'"', b'\\', rest).map_or(bytes.len().max(at), |found| at + found)
    })
}

#[inline(always)]
fn skip(bytes: &[u8], start: usize, skip_rest: impl Fn(&[u8], usize) -> usize) -> usize {
    let mut at = start;
    while at - start < 32
        && let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>())
    {
        let marks = marks(u64::from_le_bytes(*chunk));
        if marks != 0 {
            return at + (marks.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    skip_rest(bytes, at)
}

/// Skips blocks, then words, then bytes.
#[inline(never)]
fn skip_long(bytes: &[u8], mut at: usize) -> usize {
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<64>())
        && is_plain(block)
    {
        at += 64;
    }
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let marks = marks(u64::from_le_bytes(*chunk));
        if marks != 0 {
            return at + (marks.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while let Some(byte) = bytes.get(at) {
        if matches!(byte, b'"' | b'\\' | 0..=0x1f) {
            break;
        }
        at += 1;
    }
    at
}

/// Whether a block has no quote, backslash or control character. It has no early exit and only byte
/// operations, so that the compiler vectorizes it.
#[inline(always)]
fn is_plain(block: &[u8; 64]) -> bool {
    let odd = |byte: u8| u8::from(byte == b'"') | u8::from(byte == b'\\') | u8::from(byte < 0x20);
    block.iter().fold(0, |found, byte| found | odd(*byte)) == 0
}

/// Checks the string that opens at `open`.
#[inline(always)]
pub(crate) fn string(bytes: &[u8], open: usize) -> Result<Text, Syntax> {
    let at = skip_plain(bytes, open + 1);
    if byte(bytes, at) == b'"' {
        return Ok(Text { end: at + 1, form: Form::Plain });
    }
    escaped(bytes, at)
}

/// Checks the rest of a string from its first byte that is not plain.
#[inline(never)]
pub(super) fn escaped(bytes: &[u8], mut at: usize) -> Result<Text, Syntax> {
    let mut form = Form::Escaped;
    loop {
        match byte(bytes, at) {
            b'"' => return Ok(Text { end: at + 1, form }),
            b'\\' => {
                let (next, whole) = escape(bytes, at)?;
                if !whole {
                    form = Form::Lone;
                }
                at = skip_plain(bytes, next);
            }
            _ => return Err(Syntax(at)),
        }
    }
}

/// Checks one escape. Returns its end, and whether it is a whole character.
fn escape(bytes: &[u8], at: usize) -> Result<(usize, bool), Syntax> {
    match byte(bytes, at + 1) {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok((at + 2, true)),
        b'u' => match unit(bytes, at + 2)? {
            0xd800..=0xdbff => Ok(low_half(bytes, at + 6)),
            0xdc00..=0xdfff => Ok((at + 6, false)),
            _ => Ok((at + 6, true)),
        },
        _ => Err(Syntax(at + 1)),
    }
}

/// The low surrogate of a pair, if present. The next step reports an invalid escape in its place.
fn low_half(bytes: &[u8], at: usize) -> (usize, bool) {
    if byte(bytes, at) == b'\\'
        && byte(bytes, at + 1) == b'u'
        && let Ok(0xdc00..=0xdfff) = unit(bytes, at + 2)
    {
        return (at + 6, true);
    }
    (at, false)
}

/// The four hexadecimal digits of a `\u` escape.
pub(crate) fn unit(bytes: &[u8], at: usize) -> Result<u32, Syntax> {
    let mut value = 0;
    for offset in at..at + 4 {
        let digit = (byte(bytes, offset) as char).to_digit(16).ok_or(Syntax(offset))?;
        value = value * 16 + digit;
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::{skip_plain, skip_scanned};

    /// The paths for words, blocks and the tail must stop at the same bytes.
    #[test]
    fn every_stop_is_found_at_every_place() {
        for length in 0..210 {
            for place in 0..=length {
                for stop in [b'"', b'\\', 0, b'\n', 0x1f] {
                    let mut bytes = vec![b' '; length];
                    let later = [0x7f, 0x80, 0xff, b'!', b'#', b'[', b']'].into_iter().cycle();
                    bytes.iter_mut().zip(later).for_each(|(byte, plain)| *byte = plain);
                    bytes.get_mut(place).into_iter().for_each(|byte| *byte = stop);
                    assert_eq!(skip_plain(&bytes, 0), place, "{length} {place} {stop}");
                    if matches!(stop, b'"' | b'\\') {
                        assert_eq!(skip_scanned(&bytes, 0), place, "{length} {place} {stop}");
                    }
                }
            }
        }
    }
}
