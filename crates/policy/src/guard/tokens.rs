//! Iterates over the strings of a JSON text. Expects valid JSON; on other input it may find nothing, but it
//! terminates and never panics.

use memchr::{memchr, memchr2};

/// The range of a string, without its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The strings in order. `at` is the next position to scan, outside of any string.
pub(super) struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn from(bytes: &'a [u8], at: usize) -> Tokens<'a> {
        Tokens { bytes, at }
    }

    /// The position after the last string and its closing quote.
    pub(super) fn position(&self) -> usize {
        self.at
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let start = self.at + memchr(b'"', self.bytes.get(self.at..)?)? + 1;
        let end = end_of(self.bytes, start)?;
        self.at = end + 1;
        Some(Token { start, end })
    }
}

/// Returns the position of the closing quote. Consecutive escapes are skipped one by one, because a new
/// search for each would be slow.
fn end_of(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += memchr2(b'"', b'\\', bytes.get(at..)?)?,
        }
    }
}

/// Returns true if the string that ends before `after` is a member name.
pub(super) fn is_key(bytes: &[u8], after: usize) -> bool {
    let rest = bytes.get(after..).unwrap_or_default();
    rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
}

#[cfg(test)]
mod tests {
    use super::{Tokens, is_key};

    #[test]
    fn strings_are_found_whatever_is_in_them() {
        let text = br#"{"a": ["b\"c", "\\", ""], "d" :1}"#;
        let found: Vec<_> = Tokens::from(text, 0)
            .map(|t| (std::str::from_utf8(&text[t.start..t.end]).expect("text"), is_key(text, t.end + 1)))
            .collect();
        assert_eq!(found, [("a", true), (r#"b\"c"#, false), (r"\\", false), ("", false), ("d", true)]);
        assert_eq!(Tokens::from(br#"{"never closed"#, 0).count(), 0);
        assert_eq!(Tokens::from(br#"{"x\"#, 0).count(), 0);
    }
}
