//! Secrets that begin with a literal: the literal, and the runs of characters that follow it.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::guard::category::Category;
use crate::guard::detect::pattern::{Confirm, is_token};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::guard) enum CharSet {
    Digit,
    Upper,
    LowerHex,
    Hex,
    Alphanumeric,
    /// Lower-case letters and digits.
    Lower,
    /// Letters, digits and `_`.
    Word,
    /// Letters, digits, `_` and `-`: base64url without padding.
    Dashed,
    /// Letters, digits and `-`.
    Hyphened,
    /// Letters, digits, `_`, `-` and `.`.
    Dotted,
    /// Standard base64.
    Base64,
    Padding,
    /// The characters of a URL's path and query.
    Url,
    /// Characters between a key and its value.
    Between,
}

const ALL: [CharSet; SETS] = [
    CharSet::Digit,
    CharSet::Upper,
    CharSet::LowerHex,
    CharSet::Hex,
    CharSet::Alphanumeric,
    CharSet::Lower,
    CharSet::Word,
    CharSet::Dashed,
    CharSet::Hyphened,
    CharSet::Dotted,
    CharSet::Base64,
    CharSet::Padding,
    CharSet::Url,
    CharSet::Between,
];

/// The sets of each byte, as bits.
static MEMBERSHIP: LazyLock<Vec<u16>> = LazyLock::new(|| {
    let sets =
        |byte| ALL.iter().filter(|set| set.contains(byte)).fold(0, |bits, set| bits | 1 << *set as u16);
    (0..=u8::MAX).map(sets).collect()
});

/// The number of sets.
const SETS: usize = CharSet::Between as usize + 1;

impl CharSet {
    fn has(self, byte: u8) -> bool {
        MEMBERSHIP.get(usize::from(byte)).is_some_and(|sets| sets >> self as u32 & 1 == 1)
    }

    const fn contains(self, byte: u8) -> bool {
        match self {
            CharSet::Digit => byte.is_ascii_digit(),
            CharSet::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            CharSet::LowerHex => byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'),
            CharSet::Hex => byte.is_ascii_hexdigit(),
            CharSet::Alphanumeric => byte.is_ascii_alphanumeric(),
            CharSet::Lower => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
            CharSet::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            CharSet::Dashed => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            CharSet::Hyphened => byte.is_ascii_alphanumeric() || byte == b'-',
            CharSet::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            CharSet::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'),
            CharSet::Padding => byte == b'=',
            CharSet::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/' | b'%' | b'.'),
            CharSet::Between => {
                byte.is_ascii_whitespace()
                    || matches!(byte, b',' | b':' | b';' | b'"' | b'\'' | b'|' | b'/' | b'\\')
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(in crate::guard) enum ShapePart {
    Text(&'static str),
    /// So many characters of a set.
    Run(CharSet, usize, usize),
}

/// The characters that may not stand next to a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::guard) enum Boundary {
    Open,
    /// No letter or digit.
    Word,
    /// No character of an encoded text.
    Token,
}

impl Boundary {
    fn allows(self, byte: Option<&u8>) -> bool {
        byte.is_none_or(|byte| match self {
            Boundary::Open => true,
            Boundary::Word => !byte.is_ascii_alphanumeric(),
            Boundary::Token => !is_token(*byte),
        })
    }
}

pub(in crate::guard) struct SecretShape {
    pub(in crate::guard) category: Category,
    /// The literals that begin it. Case matters.
    pub(in crate::guard) prefixes: &'static [&'static str],
    pub(in crate::guard) parts: &'static [ShapePart],
    pub(in crate::guard) before: Boundary,
    pub(in crate::guard) after: Boundary,
    pub(in crate::guard) confirm: Confirm,
}

impl SecretShape {
    /// Returns true if a text begins with two characters that may follow a prefix.
    fn may_go_on(&self, text: &[u8]) -> bool {
        match self.parts.first() {
            Some(ShapePart::Run(set, ..)) => {
                text.first_chunk::<2>().is_some_and(|next| next.iter().all(|byte| set.has(*byte)))
            }
            _ => true,
        }
    }

    /// The places of a prefix that may begin a secret.
    pub(in crate::guard) fn places<'t>(
        &self,
        prefix: &'t Finder<'_>,
        text: &'t [u8],
    ) -> impl Iterator<Item = usize> {
        let after = move |at: usize| text.get(at + prefix.needle().len()..).unwrap_or_default();
        prefix.find_iter(text).filter(move |at| self.may_go_on(after(*at)))
    }
}

/// Matches shapes in one text. The end of each long run is kept, because many literals may begin in it.
pub(in crate::guard) struct ShapeMatcher<'t> {
    text: &'t [u8],
    runs: [(usize, usize); SETS],
}

impl<'t> ShapeMatcher<'t> {
    pub(in crate::guard) fn new(text: &'t [u8]) -> ShapeMatcher<'t> {
        ShapeMatcher { text, runs: [(0, 0); SETS] }
    }

    /// The range of a secret whose literal stands at `start..literal_end`.
    pub(in crate::guard) fn find(
        &mut self,
        shape: &SecretShape,
        start: usize,
        literal_end: usize,
    ) -> Option<(usize, usize)> {
        if !shape.before.allows(start.checked_sub(1).and_then(|at| self.text.get(at))) {
            return None;
        }
        let mut at = literal_end;
        for part in shape.parts {
            at += match part {
                ShapePart::Text(text) => {
                    self.text.get(at..)?.starts_with(text.as_bytes()).then_some(text.len())?
                }
                ShapePart::Run(set, least, most) => {
                    let length = self.run(*set, at, *most);
                    (length >= *least).then_some(length)?
                }
            };
        }
        if !shape.after.allows(self.text.get(at)) {
            return None;
        }
        (shape.confirm)(self.text, start, at)
    }

    /// The number of characters of a set at `at`, up to `most`.
    fn run(&mut self, set: CharSet, at: usize, most: usize) -> usize {
        let count = |limit: usize| {
            let rest = self.text.get(at..).unwrap_or_default();
            rest.iter().take(limit).take_while(|byte| set.has(**byte)).count()
        };
        if most < usize::MAX {
            return count(most);
        }
        let known = self.runs.get(set as usize).copied().unwrap_or_default();
        if (known.0..known.1).contains(&at) {
            return known.1 - at;
        }
        let length = count(usize::MAX);
        if let Some(known) = self.runs.get_mut(set as usize) {
            *known = (at, at + length);
        }
        length
    }
}
