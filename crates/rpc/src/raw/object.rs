use super::Raw;
use super::skip::{string_end, value_end};
use crate::scan::byte;
use crate::scan::space::skip_space;
use crate::scan::unescape::unescape;
use std::borrow::Cow;

/// An object borrowed from scanned text. Lookup walks it: right for the few members the walk asks for.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a> {
    text: &'a str,
    /// Where its first member may begin.
    at: usize,
}

impl<'a> Object<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 1 }
    }

    /// Of members without the braces around them.
    pub(super) fn of_members(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The member with this key, compared decoded.
    pub fn get(self, key: &str) -> Option<Raw<'a>> {
        let mut members = self.iter();
        std::iter::from_fn(|| members.step()).find(|(inner, _)| inner.is(key)).map(|(_, value)| value)
    }

    /// Every member, in order, keys decoded.
    pub fn iter(self) -> Members<'a> {
        Members { text: self.text, at: self.at }
    }

    /// Every member, in order, keys as they are written.
    pub(super) fn written(self) -> impl Iterator<Item = (Key<'a>, Raw<'a>)> {
        let mut members = self.iter();
        std::iter::from_fn(move || members.step())
    }

    /// The text it is read from, which need not have braces around it.
    pub fn text(self) -> &'a str {
        self.text
    }

    /// Whether there are no members.
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

/// A key as it is written, between its quotes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key<'a> {
    pub(super) written: &'a str,
    /// Whether there are escapes in it, which the search for its end came by.
    escaped: bool,
    /// Where its member begins and ends in the text of the object.
    pub(super) member: (usize, usize),
}

impl<'a> Key<'a> {
    /// Whether it is this name.
    pub(super) fn is(self, name: &str) -> bool {
        if self.escaped { is_key(self.written, name) } else { self.written == name }
    }

    fn decoded(self) -> Option<Cow<'a, str>> {
        if self.escaped { unescape(self.written) } else { Some(Cow::Borrowed(self.written)) }
    }
}

/// Whether a key as it is written is this name.
pub(crate) fn is_key(written: &str, name: &str) -> bool {
    written == name || (written.contains('\\') && unescape(written).is_some_and(|decoded| decoded == name))
}

/// The members of an object, in order.
#[derive(Clone, Debug)]
pub struct Members<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Members<'a> {
    /// The next key, not decoded, and its value.
    pub(super) fn step(&mut self) -> Option<(Key<'a>, Raw<'a>)> {
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
        let key = Key { written: self.text.get(open + 1..close - 1)?, escaped, member: (open, end) };
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
