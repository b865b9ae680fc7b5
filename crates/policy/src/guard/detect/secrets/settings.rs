//! Passwords in connection strings: `Server=db;User Id=app;Password=…`, `host=db user=app password=…`,
//! `jdbc:mysql://h/db?user=root&password=…`.

use memchr::memchr;

use super::is_password;
use crate::guard::category::Category;
use crate::guard::detect::pattern::{Span, before};

/// The most bytes between a password and the other settings.
const NEAR: usize = 200;

/// The fewest characters of a password.
const SHORTEST: usize = 3;

/// The settings and passwords of one text, in its order.
pub(super) struct ConnectionSettings<'t> {
    text: &'t [u8],
    words: Vec<(usize, usize)>,
    passwords: Vec<(usize, usize)>,
}

impl<'t> ConnectionSettings<'t> {
    pub(super) fn new(text: &'t [u8]) -> ConnectionSettings<'t> {
        ConnectionSettings { text, words: Vec::new(), passwords: Vec::new() }
    }

    pub(super) fn note(&mut self, at: usize, word: usize) {
        self.words.push((at, word));
    }

    /// Notes a name whose end is known, if a value follows it.
    pub(super) fn note_password(&mut self, start: usize, end: usize) {
        if let Some(value) = self.value(start, end) {
            self.passwords.push(value);
        }
    }

    fn value(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        if before(self.text, start).is_some_and(|byte| byte.is_ascii_alphanumeric()) {
            return None;
        }
        let rest = self.text.get(end..)?;
        let space = usize::from(rest.first() == Some(&b' '));
        let rest = rest.get(space..)?.strip_prefix(b"=")?;
        let after = usize::from(rest.first() == Some(&b' '));
        let rest = rest.get(after..)?;
        let begin = end + space + 1 + after;
        let quote = rest.first().filter(|byte| matches!(byte, b'\'' | b'"' | b'{')).copied();
        let (begin, rest) = match quote {
            Some(_) => (begin + 1, rest.get(1..)?),
            None => (begin, rest),
        };
        let ends = |byte: &u8| match quote {
            Some(b'{') => *byte == b'}',
            Some(quote) => *byte == quote,
            None => byte.is_ascii_whitespace() || matches!(byte, b';' | b'"' | b'\'' | b'&' | b','),
        };
        let length = rest.iter().take(NEAR).position(ends).unwrap_or(rest.len().min(NEAR));
        let value = rest.get(..length)?;
        // A quoted placeholder keeps its braces.
        let whole = if quote == Some(b'{') { self.text.get(begin - 1..begin + length + 1)? } else { value };
        (length >= SHORTEST && is_password(value) && is_password(whole)).then_some((begin, begin + length))
    }

    /// A password counts next to a server or a user: with a semicolon between settings, or with two settings.
    pub(super) fn find(self, spans: &mut Vec<Span>) {
        for (start, end) in &self.passwords {
            let (from, to) = (start.saturating_sub(NEAR), end + NEAR);
            let first = self.words.partition_point(|(at, _)| *at < from);
            let near = self.words.get(first..).unwrap_or_default().iter().take_while(|(at, _)| *at < to);
            let mut kinds = near.map(|(_, word)| *word);
            let Some(one) = kinds.next() else { continue };
            let around = self.text.get(from..to.min(self.text.len())).unwrap_or_default();
            if memchr(b';', around).is_some() || kinds.any(|other| other != one) {
                spans.push(Span { start: *start, end: *end, category: Category::ConnectionString });
            }
        }
    }
}
