//! Decodes the text between the quotes of a string.

use super::byte;
use super::text::{skip_plain, unit};
use std::borrow::Cow;

/// The decoded value. `None` if it has a lone surrogate.
pub(crate) fn unescape(inner: &str) -> Option<Cow<'_, str>> {
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    let mut decoded = String::with_capacity(inner.len());
    unescape_into(inner, &mut decoded)?;
    Some(Cow::Owned(decoded))
}

/// Appends the decoded value. Decoding never makes a text longer.
pub(crate) fn unescape_into(inner: &str, decoded: &mut String) -> Option<()> {
    let bytes = inner.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let stop = skip_plain(bytes, at);
        decoded.push_str(inner.get(at..stop)?);
        if stop >= bytes.len() {
            break;
        }
        let (character, next) = character(bytes, stop)?;
        decoded.push(character);
        at = next;
    }
    Some(())
}

/// The character of an escape, and the offset after it.
fn character(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    let simple = match (byte(bytes, at), byte(bytes, at + 1)) {
        (b'\\', b'u') => return code_point(bytes, at),
        (b'\\', b'b') => '\u{8}',
        (b'\\', b'f') => '\u{c}',
        (b'\\', b'n') => '\n',
        (b'\\', b'r') => '\r',
        (b'\\', b't') => '\t',
        (b'\\', other @ (b'"' | b'\\' | b'/')) => other as char,
        _ => return None,
    };
    Some((simple, at + 2))
}

fn code_point(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    let high = unit(bytes, at + 2).ok()?;
    if !(0xd800..=0xdbff).contains(&high) {
        return Some((char::from_u32(high)?, at + 6));
    }
    if byte(bytes, at + 6) != b'\\' || byte(bytes, at + 7) != b'u' {
        return None;
    }
    let low = unit(bytes, at + 8).ok().filter(|low| (0xdc00..=0xdfff).contains(low))?;
    let point = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    Some((char::from_u32(point)?, at + 12))
}
