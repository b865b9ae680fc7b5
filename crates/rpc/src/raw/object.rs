use super::Raw;
use super::skip::{string_end, value_end};
use crate::scan::byte;
use crate::scan::space::skip_space;
use crate::scan::unescape::unescape;
use std::borrow::Cow;

/// An object borrowed from scanned text. A lookup searches it linearly, which is right for a few members.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a> {
    text: &'a str,
    /// The offset where the first member may start.
    at: usize,
}

impl<'a> Object<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 1 }
    }

    /// An object given by its members, without braces.
    pub(super) fn of_members(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Finds a member by its decoded key.
    pub fn get(self, key: &str) -> Option<Raw<'a>> {
        let mut members = self.iter();
        std::iter::from_fn(|| members.step()).find(|(inner, _)| inner.is(key)).map(|(_, value)| value)
    }

    /// All members in order, with decoded keys.
    pub fn iter(self) -> Members<'a> {
        Members { text: self.text, at: self.at }
    }

    /// All members in order, with keys as written.
    pub(super) fn written(self) -> impl Iterator<Item = (RawKey<'a>, Raw<'a>)> {
        let mut members = self.iter();
        std::iter::from_fn(move || members.step())
    }

    /// The text of the object, possibly without braces.
    pub fn text(self) -> &'a str {
        self.text
    }

    pub fn is_empty(self) -> bool {
        self.iter().next().is_none()
    }
}

impl<'a> IntoIterator for Object<'a> {
    type Item = (Cow<'a, str>, Raw<'a>);
    type IntoIter = Members<'a>;

    fn into_iter(self) -> Members<'a> {
        self.iter()
    }
}

/// A key as written, without its quotes.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawKey<'a> {
    pub(super) written: &'a str,
    /// Whether it has escapes. The search for its end detects them.
    escaped: bool,
    /// The range of the member in the object's text.
    pub(super) member: (usize, usize),
}

impl<'a> RawKey<'a> {
    /// Whether the decoded key equals `name`.
    pub(super) fn is(self, name: &str) -> bool {
        if self.escaped { is_key(self.written, name) } else { self.written == name }
    }

    fn decoded(self) -> Option<Cow<'a, str>> {
        if self.escaped { unescape(self.written) } else { Some(Cow::Borrowed(self.written)) }
    }
}

/// Whether a key as written decodes to `name`.
pub(crate) fn is_key(written: &str, name: &str) -> bool {
    written == name || (written.contains('\\') && unescape(written).is_some_and(|decoded| decoded == name))
}

/// Iterates over the members of an object.
#[derive(Clone, Debug)]
pub struct Members<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Members<'a> {
    /// The next member with its key as written.
    pub(super) fn step(&mut self) -> Option<(RawKey<'a>, Raw<'a>)> {
        let bytes = self.text.as_bytes();
        let open = skip_space(bytes, self.at);
        if byte(bytes, open) != b'"' {
            return None;
        }
        let (close, escaped) = string_end(bytes, open);
        let colon = skip_space(bytes, close);
        let start = skip_space(bytes, colon + 1);
        let end = value_end(bytes, start);
        let after = skip_space(bytes, end);
        self.at = if byte(bytes, after) == b',' { after + 1 } else { bytes.len() };
        let key = RawKey { written: self.text.get(open + 1..close - 1)?, escaped, member: (open, end) };
        Some((key, Raw::trusted(self.text.get(start..end)?)))
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, Raw<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (key, value) = self.step()?;
        Some((key.decoded()?, value))
    }
}
