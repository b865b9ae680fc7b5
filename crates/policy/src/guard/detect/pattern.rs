//! Patterns, and the functions that confirm their matches.

use failwell_fault::{Fault, OrFault, reason};
use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use crate::guard::category::Category;
use crate::guard::fold::{Fold, fold};
use crate::guard::settings::Sensitivity;

/// A range of text and its category.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::guard) struct Span {
    pub(in crate::guard) start: usize,
    pub(in crate::guard) end: usize,
    pub(in crate::guard) category: Category,
}

/// Confirms a match and returns the part of it that counts.
pub(in crate::guard) type Confirm = fn(&[u8], usize, usize) -> Option<(usize, usize)>;

pub(in crate::guard) struct PatternRow {
    pub(in crate::guard) category: Category,
    pub(in crate::guard) pattern: &'static str,
    pub(in crate::guard) confirm: Confirm,
    pub(in crate::guard) from: Sensitivity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::guard) enum Case {
    Sensitive,
    Insensitive,
}

/// The compiled patterns of a guard. One pass of the set tells which patterns match at all.
#[derive(Debug)]
pub(in crate::guard) struct Patterns {
    set: RegexSet,
    all: Vec<(Category, Regex, Confirm)>,
}

/// An unconfirmed match up to this length is searched again from inside. The bound keeps the search linear.
const LOOKED_INTO: usize = 64;

impl Patterns {
    pub(in crate::guard) fn compile(rows: &[&PatternRow], case: Case) -> Result<Patterns, Fault> {
        let ignored = case == Case::Insensitive;
        let mut set = RegexSetBuilder::new(rows.iter().map(|row| folded(row.pattern)));
        set.unicode(false).case_insensitive(ignored).size_limit(64 << 20).dfa_size_limit(16 << 20);
        let set = set.build().or_fault(&reason::SERVER_BUG)?;
        let one = |row: &&PatternRow| {
            let regex =
                RegexBuilder::new(&folded(row.pattern)).unicode(false).case_insensitive(ignored).build();
            Ok((row.category, regex.or_fault(&reason::SERVER_BUG)?, row.confirm))
        };
        Ok(Patterns { set, all: rows.iter().map(one).collect::<Result<_, Fault>>()? })
    }

    /// Finds all matches within a part of a text. Confirmation sees the whole text.
    pub(in crate::guard) fn find(
        &self,
        text: &[u8],
        from: usize,
        to: usize,
        wanted: u64,
        spans: &mut Vec<Span>,
    ) {
        let part = text.get(from..to).unwrap_or_default();
        for index in &self.set.matches(part) {
            if let Some((category, regex, confirm)) = self.all.get(index)
                && category.bit() & wanted != 0
            {
                let found = find_all(text, from, part, regex, *confirm);
                spans.extend(found.into_iter().map(|(start, end)| Span { start, end, category: *category }));
            }
        }
    }
}

/// A pattern for folded text: letters of other scripts that look like ASCII are ASCII there.
pub(in crate::guard) fn folded(pattern: &str) -> String {
    let mut text = String::with_capacity(pattern.len());
    for c in pattern.chars() {
        match fold(c) {
            Fold::Same => text.push(c),
            Fold::Ascii(byte) => text.push(char::from(byte)),
            Fold::Text(letters) => text.push_str(letters),
            Fold::Drop => {}
        }
    }
    text
}

fn find_all(text: &[u8], from: usize, part: &[u8], regex: &Regex, confirm: Confirm) -> Vec<(usize, usize)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(next) = regex.find_at(part, at) {
        let (start, end) = (next.start(), next.end());
        match confirm(text, from + start, from + end) {
            Some((start, end)) => {
                found.push((start, end));
                at = (end - from).max(at + 1);
            }
            None if end - start <= LOOKED_INTO => at = start + 1,
            None => at = end,
        }
        if at > part.len() {
            break;
        }
    }
    found
}

/// Accepts every match.
pub(in crate::guard) fn any(_: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    Some((start, end))
}

pub(in crate::guard) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/')
}

pub(in crate::guard) fn before(text: &[u8], at: usize) -> Option<&u8> {
    text.get(at.checked_sub(1)?)
}
