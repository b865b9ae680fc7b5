//! Regular expressions of schemas. They are written for ECMAScript and run on `regex`, which takes linear time.
//!
//! `regex` has neither look-around nor back-references. Look-ahead at the start of an anchored pattern, as in
//! `^(?!.*\.\.)[a-z/]+$`, becomes an expression of its own. Other look-around is reported as unsupported: ignoring it
//! would let through what the author of the schema forbids.

use regex::Regex;

/// `\s` of ECMAScript, which differs from Unicode's white space.
const SPACE: &str = r"\t-\r \u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}";

#[derive(Debug)]
pub(super) struct Pattern {
    look_aheads: Vec<LookAhead>,
    body: Regex,
}

#[derive(Debug)]
struct LookAhead {
    matches: bool,
    regex: Regex,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PatternError {
    Invalid,
    /// Valid for ECMAScript, but beyond `regex`.
    Unsupported,
}

impl Pattern {
    pub(super) fn new(source: &str) -> Result<Pattern, PatternError> {
        let Some((look_aheads, rest)) = split_look_aheads(source) else {
            return Ok(Pattern { look_aheads: Vec::new(), body: translate(source)? });
        };
        let look_aheads = look_aheads
            .into_iter()
            .map(|(matches, inner)| Ok(LookAhead { matches, regex: translate(&format!("^(?:{inner})"))? }));
        Ok(Pattern {
            look_aheads: look_aheads.collect::<Result<_, _>>()?,
            body: translate(&format!("^{rest}"))?,
        })
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.look_aheads.iter().all(|ahead| ahead.regex.is_match(text) == ahead.matches)
            && self.body.is_match(text)
    }
}

/// The look-aheads right behind `^`, and the pattern behind them. `None` when there are none, or when they belong to
/// one of several alternatives.
fn split_look_aheads(source: &str) -> Option<(Vec<(bool, &str)>, &str)> {
    let mut rest = source.strip_prefix('^')?;
    let mut found = Vec::new();
    while let Some((matches, inner)) = look_ahead(rest) {
        let (inner, behind) = inner.split_at_checked(end_of_group(inner)?)?;
        found.push((matches, inner));
        rest = behind.strip_prefix(')')?;
    }
    (!found.is_empty() && !has_alternatives(rest)).then_some((found, rest))
}

fn look_ahead(source: &str) -> Option<(bool, &str)> {
    let positive = source.strip_prefix("(?=").map(|inner| (true, inner));
    positive.or_else(|| source.strip_prefix("(?!").map(|inner| (false, inner)))
}

/// Where the group that the text starts in ends.
fn end_of_group(source: &str) -> Option<usize> {
    outside_classes(source).find(|(_, c, depth)| *c == ')' && *depth == 0).map(|(at, ..)| at)
}

fn has_alternatives(source: &str) -> bool {
    outside_classes(source).any(|(_, c, depth)| c == '|' && depth == 0)
}

/// The characters that are neither escaped nor in a class, with the number of groups they are in.
fn outside_classes(source: &str) -> impl Iterator<Item = (usize, char, usize)> {
    let (mut is_escaped, mut is_in_class, mut depth) = (false, false, 0_usize);
    source.char_indices().filter_map(move |(at, c)| {
        if is_escaped || c == '\\' {
            is_escaped = !is_escaped;
            return None;
        }
        let was_in_class = is_in_class;
        is_in_class = if is_in_class { c != ']' } else { c == '[' };
        if was_in_class || is_in_class {
            return None;
        }
        let seen = (at, c, depth);
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        Some(seen)
    })
}

fn translate(source: &str) -> Result<Regex, PatternError> {
    let mut translator =
        Translator { rest: source, done: String::new(), is_in_class: false, is_supported: true };
    while translator.step() {}
    // Unsupported parts were replaced by harmless ones, so a mistake in the remainder shows here.
    let regex = Regex::new(&translator.done).map_err(|_| PatternError::Invalid)?;
    if translator.is_supported { Ok(regex) } else { Err(PatternError::Unsupported) }
}

struct Translator<'s> {
    rest: &'s str,
    done: String,
    is_in_class: bool,
    is_supported: bool,
}

impl<'s> Translator<'s> {
    fn step(&mut self) -> bool {
        if let Some(behind) =
            ["(?=", "(?!", "(?<=", "(?<!"].iter().find_map(|open| self.rest.strip_prefix(open))
            && !self.is_in_class
        {
            return self.replace_unsupported("(?:", behind);
        }
        let mut all = self.rest.chars();
        let Some(c) = all.next() else { return false };
        self.rest = all.as_str();
        match c {
            '\\' => return self.escape(),
            '[' if self.is_in_class => self.done.push_str(r"\["),
            // Set operators of `regex` that are plain characters in ECMAScript.
            '&' | '~' if self.is_in_class => self.done.extend(['\\', c]),
            '-' if self.is_in_class && self.rest.starts_with('-') => {
                return self.replace_unsupported(r"\-", all.as_str());
            }
            _ => self.done.push(c),
        }
        self.is_in_class = if self.is_in_class { c != ']' } else { c == '[' };
        true
    }

    fn escape(&mut self) -> bool {
        let mut all = self.rest.chars();
        let Some(c) = all.next() else {
            self.done.push('\\');
            return false;
        };
        match c {
            'd' => self.done.push_str("[0-9]"),
            'D' => self.done.push_str("[^0-9]"),
            'w' => self.done.push_str("[A-Za-z0-9_]"),
            'W' => self.done.push_str("[^A-Za-z0-9_]"),
            's' => self.done.extend(["[", SPACE, "]"]),
            'S' => self.done.extend(["[^", SPACE, "]"]),
            'c' => match all.next().filter(char::is_ascii_alphabetic) {
                Some(letter) => self.done.push_str(&format!("\\x{:02x}", u32::from(letter) % 32)),
                None => self.done.push_str(r"\c"),
            },
            '1'..='9' if !self.is_in_class => return self.replace_unsupported("(?:)", all.as_str()),
            _ => self.done.extend(['\\', c]),
        }
        self.rest = all.as_str();
        true
    }

    fn replace_unsupported(&mut self, with: &str, behind: &'s str) -> bool {
        self.is_supported = false;
        self.done.push_str(with);
        self.rest = behind;
        true
    }
}
