//! One pattern and the rule that confirms what it finds.

use failwell_fault::{Fault, OrFault, reason};
use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::category::Category;
use super::settings::Sensitivity;

/// A stretch of text and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) category: Category,
}

/// Confirms a match, and says which part of it counts.
pub(super) type Confirm = fn(&[u8], usize, usize) -> Option<(usize, usize)>;

/// A row of a guard's table.
pub(super) struct Row {
    pub(super) category: Category,
    pub(super) pattern: &'static str,
    pub(super) confirm: Confirm,
    pub(super) from: Sensitivity,
}

/// Whether upper and lower case are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Told,
    Ignored,
}

/// A guard's patterns, compiled. The set says in one pass which of them are there at all.
#[derive(Debug)]
pub(super) struct Patterns {
    set: RegexSet,
    all: Vec<(Category, Regex, Confirm)>,
}

/// A match longer than this is not looked into again when it is not confirmed: what is looked at stays linear.
const LOOKED_INTO: usize = 64;

impl Patterns {
    pub(super) fn compile(rows: &[&Row], case: Case) -> Result<Patterns, Fault> {
        let ignored = case == Case::Ignored;
        let mut set = RegexSetBuilder::new(rows.iter().map(|row| row.pattern));
        set.unicode(false).case_insensitive(ignored).size_limit(64 << 20).dfa_size_limit(16 << 20);
        let set = set.build().or_fault(&reason::SERVER_BUG)?;
        let one = |row: &&Row| {
            let regex = RegexBuilder::new(row.pattern).unicode(false).case_insensitive(ignored).build();
            Ok((row.category, regex.or_fault(&reason::SERVER_BUG)?, row.confirm))
        };
        Ok(Patterns { set, all: rows.iter().map(one).collect::<Result<_, Fault>>()? })
    }

    /// Finds all within a part of a text. What stands around a match is looked at in the whole text.
    pub(super) fn find(&self, text: &[u8], from: usize, to: usize, wanted: u64, spans: &mut Vec<Span>) {
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

/// Every match counts.
pub(super) fn any(_: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    Some((start, end))
}

/// No letter or digit on either side.
pub(super) fn alone(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let free = |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric());
    (free(before(text, start)) && free(text.get(end))).then_some((start, end))
}

/// Nothing on either side that could be part of an encoded text.
pub(super) fn apart(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let free = |byte: Option<&u8>| byte.is_none_or(|byte| !is_token(*byte));
    (free(before(text, start)) && free(text.get(end))).then_some((start, end))
}

/// Nothing in front that could be part of a longer word.
pub(super) fn begins(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    before(text, start).is_none_or(|byte| !is_token(*byte)).then_some((start, end))
}

pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/')
}

pub(super) fn before(text: &[u8], at: usize) -> Option<&u8> {
    text.get(at.checked_sub(1)?)
}
