use failwell_fault::Fault;
use failwell_sdk::nearest;

use super::{Filter, OPERATORS, Operator, Term};
use crate::reason;

/// Maximum number of characters, and maximum nesting of parentheses.
const LONGEST: usize = 4_000;
const DEEPEST: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq)]
enum FilterToken {
    Open,
    Close,
    And,
    Or,
    Not,
    Word(String),
    Pair(String, String),
}

/// Parses a filter. An error has its position.
pub(crate) fn parse(text: &str) -> Result<Filter, Fault> {
    if text.chars().count() > LONGEST {
        return Err(wrong(LONGEST, "it is too long"));
    }
    let pieces = split(text)?;
    let mut reader = FilterParser { pieces: &pieces, at: 0, end: text.chars().count() };
    if pieces.is_empty() {
        return Ok(Filter::All);
    }
    let filter = reader.either(0)?;
    match reader.next() {
        None => Ok(filter),
        Some((offset, _)) => Err(wrong(*offset, "a parenthesis is closed that was never opened")),
    }
}

fn wrong(offset: usize, why: &'static str) -> Fault {
    Fault::new(&reason::TASKS_INVALID_FILTER).fact("offset", offset).fact("why", why)
}

fn split(text: &str) -> Result<Vec<(usize, FilterToken)>, Fault> {
    let characters: Vec<char> = text.chars().collect();
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Some(character) = characters.get(at).copied() {
        match character {
            c if c.is_whitespace() => at += 1,
            '(' => {
                pieces.push((at, FilterToken::Open));
                at += 1;
            }
            ')' => {
                pieces.push((at, FilterToken::Close));
                at += 1;
            }
            _ => {
                let (piece, end) = word(&characters, at)?;
                pieces.push((at, piece));
                at = end;
            }
        }
    }
    Ok(pieces)
}

/// A word, `name:value` or `name:"a longer value"`.
fn word(characters: &[char], begin: usize) -> Result<(FilterToken, usize), Fault> {
    if characters.get(begin) == Some(&'"') {
        let (text, end) = quoted(characters, begin)?;
        return Ok((FilterToken::Word(text), end));
    }
    let stops = |c: &char| c.is_whitespace() || matches!(c, '(' | ')' | ':' | '"');
    let rest = characters.get(begin..).unwrap_or_default();
    let length = rest.iter().position(stops).unwrap_or(rest.len());
    let name: String = rest.iter().take(length).collect();
    let end = begin + length;
    if characters.get(end) == Some(&':') {
        let begin_value = end + 1;
        if characters.get(begin_value) == Some(&'"') {
            let (value, end) = quoted(characters, begin_value)?;
            return Ok((FilterToken::Pair(name, value), end));
        }
        let rest = characters.get(begin_value..).unwrap_or_default();
        let stops = |c: &char| c.is_whitespace() || matches!(c, '(' | ')');
        let length = rest.iter().position(stops).unwrap_or(rest.len());
        return Ok((FilterToken::Pair(name, rest.iter().take(length).collect()), begin_value + length));
    }
    let piece = match name.to_ascii_uppercase().as_str() {
        "AND" => FilterToken::And,
        "OR" => FilterToken::Or,
        "NOT" => FilterToken::Not,
        _ => FilterToken::Word(name),
    };
    // A quote in the middle of a word starts the next token.
    Ok((piece, end.max(begin + 1)))
}

fn quoted(characters: &[char], begin: usize) -> Result<(String, usize), Fault> {
    let rest = characters.get(begin + 1..).unwrap_or_default();
    let length =
        rest.iter().position(|c| *c == '"').ok_or_else(|| wrong(begin, "a quote is never closed"))?;
    Ok((rest.iter().take(length).collect(), begin + length + 2))
}

struct FilterParser<'p> {
    pieces: &'p [(usize, FilterToken)],
    at: usize,
    end: usize,
}

impl<'p> FilterParser<'p> {
    fn next(&self) -> Option<&'p (usize, FilterToken)> {
        self.pieces.get(self.at)
    }

    fn either(&mut self, depth: usize) -> Result<Filter, Fault> {
        let mut parts = vec![self.all(depth)?];
        while matches!(self.next(), Some((_, FilterToken::Or))) {
            self.at += 1;
            parts.push(self.all(depth)?);
        }
        Ok(alone_or(parts, Filter::Or))
    }

    /// Adjacent terms mean AND, as at the service.
    fn all(&mut self, depth: usize) -> Result<Filter, Fault> {
        let mut parts = vec![self.one(depth)?];
        loop {
            match self.next() {
                Some((_, FilterToken::And)) => {
                    self.at += 1;
                    parts.push(self.one(depth)?);
                }
                Some((_, FilterToken::Or | FilterToken::Close)) | None => {
                    return Ok(alone_or(parts, Filter::And));
                }
                Some(_) => parts.push(self.one(depth)?),
            }
        }
    }

    fn one(&mut self, depth: usize) -> Result<Filter, Fault> {
        let Some((offset, piece)) = self.next() else {
            return Err(wrong(self.end, "something is missing at its end"));
        };
        if depth > DEEPEST {
            return Err(wrong(*offset, "it is nested too deeply"));
        }
        self.at += 1;
        match piece {
            FilterToken::Not => Ok(Filter::Not(Box::new(self.one(depth + 1)?))),
            FilterToken::Open => {
                let inner = self.either(depth + 1)?;
                match self.next() {
                    Some((_, FilterToken::Close)) => self.at += 1,
                    _ => return Err(wrong(*offset, "a parenthesis is never closed")),
                }
                Ok(inner)
            }
            FilterToken::Word(word) => {
                Ok(Filter::Term(Term { operator: Operator::Word, value: word.clone(), offset: *offset }))
            }
            FilterToken::Pair(name, value) => term(*offset, name, value),
            FilterToken::And | FilterToken::Or | FilterToken::Close => {
                Err(wrong(*offset, "something is missing before this"))
            }
        }
    }
}

fn alone_or(mut parts: Vec<Filter>, several: fn(Vec<Filter>) -> Filter) -> Filter {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        Some(last) => {
            parts.push(last);
            several(parts)
        }
        None => Filter::All,
    }
}

fn term(offset: usize, name: &str, value: &str) -> Result<Filter, Fault> {
    let Some(operator) = Operator::named(name) else {
        let near = nearest(&name.to_ascii_lowercase(), OPERATORS.iter().map(|(known, _)| *known));
        return Err(wrong(offset, "there is no such operator").nearest(near));
    };
    if value.trim().is_empty() {
        return Err(wrong(offset, "the operator has no value"));
    }
    Ok(Filter::Term(Term { operator, value: value.to_owned(), offset }))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn an_error_names_its_position() {
        for (text, expected) in [
            ("status:incomplete AND", Some((21, "something is missing at its end"))),
            ("(tag:a", Some((0, "a parenthesis is never closed"))),
            ("tag:a)", Some((5, "a parenthesis is closed that was never opened"))),
            ("tagg:a", Some((0, "there is no such operator"))),
            ("due:\"today", Some((4, "a quote is never closed"))),
            ("tag: x", Some((0, "the operator has no value"))),
            ("OR tag:a", Some((0, "something is missing before this"))),
            ("", None),
            ("milk", None),
            ("NOT (tag:a or tag:b) and status:completed", None),
            ("list:\"Home Work\" dueWithin:\"1 week of today\"", None),
        ] {
            let fault = parse(text).err();
            let detail = fault.as_ref().map(|fault| fault.detail());
            let expected =
                expected.map(|(at, why)| format!("the filter cannot be parsed at character {at}: {why}"));
            assert_eq!(detail, expected, "{text}");
        }
        assert!(parse("statsu:incomplete").err().is_some_and(|fault| fault.hint().contains("`status`")));
    }
}
