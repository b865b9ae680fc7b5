//! The strings of a JSON text, without looking at anything else. Trusts that the text is JSON; on what is not, it
//! may find nothing, but ends and never panics.

use memchr::{memchr, memchr2};

/// One string of the text, between its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Strings in order. `at` is where to go on, outside of any string.
pub(super) struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn from(bytes: &'a [u8], at: usize) -> Tokens<'a> {
        Tokens { bytes, at }
    }

    /// Where the last string ended, its quote included.
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

/// Where the closing quote of a string stands. Escapes that follow one another are stepped over one by one:
/// searching anew for each would make a run of them dear.
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

/// Whether a string that ended before `after` is the name of a member.
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
