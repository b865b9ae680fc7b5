//! Predicate strings: `type == "XCUIElementTypeButton" AND label BEGINSWITH[c] "log"`.

use regex::{Regex, RegexBuilder};

use super::lex::{Word, Words, surprise};
use crate::refusal::Refusal;
use crate::screen::{Attribute, Screen, attribute};

#[derive(Debug)]
pub(crate) enum Predicate {
    All(Vec<Predicate>),
    Any(Vec<Predicate>),
    Not(Box<Predicate>),
    Is { name: String, how: How, case: Case },
    Constant(bool),
}

#[derive(Debug)]
pub(crate) enum How {
    Equal(Wanted),
    Different(Wanted),
    Begins(String),
    Ends(String),
    Contains(String),
    Matches(Regex),
    In(Vec<String>),
    Compares(&'static str, i32),
}

#[derive(Debug)]
pub(crate) enum Wanted {
    Text(String),
    Number(i32),
    Flag(bool),
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    Counts,
    Ignored,
}

impl Predicate {
    pub(crate) fn parse(text: &str) -> Result<Predicate, Refusal> {
        let mut words = Words::of(text)?;
        let predicate = any(&mut words)?;
        words.end()?;
        Ok(predicate)
    }

    pub(crate) fn holds(&self, screen: &Screen, index: usize) -> bool {
        match self {
            Predicate::All(parts) => parts.iter().all(|part| part.holds(screen, index)),
            Predicate::Any(parts) => parts.iter().any(|part| part.holds(screen, index)),
            Predicate::Not(part) => !part.holds(screen, index),
            Predicate::Constant(holds) => *holds,
            Predicate::Is { name, how, case } => {
                attribute(screen, index, name).is_some_and(|found| how.holds(&found, *case))
            }
        }
    }
}

impl How {
    fn holds(&self, found: &Attribute, case: Case) -> bool {
        let same = |text: &str| if case == Case::Ignored { text.to_lowercase() } else { text.to_owned() };
        let text = found.written().map(|text| same(&text));
        let with = |test: fn(&str, &str) -> bool, wanted: &str| {
            text.as_deref().is_some_and(|text| test(text, &same(wanted)))
        };
        match self {
            How::Equal(wanted) => wanted.is(found, case),
            How::Different(wanted) => !wanted.is(found, case),
            How::Begins(wanted) => with(|text, part| text.starts_with(part), wanted),
            How::Ends(wanted) => with(|text, part| text.ends_with(part), wanted),
            How::Contains(wanted) => with(|text, part| text.contains(part), wanted),
            How::Matches(pattern) => found.written().is_some_and(|text| pattern.is_match(&text)),
            How::In(all) => all.iter().any(|one| text.as_deref() == Some(same(one).as_str())),
            How::Compares(mark, wanted) => {
                let Attribute::Number(number) = found else { return false };
                match *mark {
                    "<" => number < wanted,
                    "<=" => number <= wanted,
                    ">" => number > wanted,
                    _ => number >= wanted,
                }
            }
        }
    }
}

impl Wanted {
    fn is(&self, found: &Attribute, case: Case) -> bool {
        match (self, found) {
            (Wanted::Text(wanted), Attribute::Text(found)) if case == Case::Ignored => {
                wanted.to_lowercase() == found.to_lowercase()
            }
            (Wanted::Text(wanted), Attribute::Text(found)) => wanted == found,
            (Wanted::Text(wanted), Attribute::Flag(found)) => *wanted == found.to_string(),
            (Wanted::Number(wanted), Attribute::Number(found)) => wanted == found,
            (Wanted::Number(wanted), Attribute::Flag(found)) => *wanted == i32::from(*found),
            (Wanted::Number(wanted), Attribute::Text(found)) => *found == wanted.to_string(),
            (Wanted::Flag(wanted), Attribute::Flag(found)) => wanted == found,
            (Wanted::Nothing, Attribute::Nothing) => true,
            _ => false,
        }
    }
}

fn any(words: &mut Words) -> Result<Predicate, Refusal> {
    let mut parts = vec![all(words)?];
    while words.takes_name("OR") || words.takes("||") {
        parts.push(all(words)?);
    }
    Ok(Predicate::Any(parts))
}

fn all(words: &mut Words) -> Result<Predicate, Refusal> {
    let mut parts = vec![one(words)?];
    while words.takes_name("AND") || words.takes("&&") {
        parts.push(one(words)?);
    }
    Ok(Predicate::All(parts))
}

fn one(words: &mut Words) -> Result<Predicate, Refusal> {
    if words.takes_name("NOT") || words.takes("!") {
        return Ok(Predicate::Not(Box::new(words.deeper(one)?)));
    }
    if words.takes("(") {
        let inside = words.deeper(any)?;
        words.expect(")")?;
        return Ok(inside);
    }
    for (name, holds) in [("TRUEPREDICATE", true), ("FALSEPREDICATE", false)] {
        if words.takes_name(name) {
            return Ok(Predicate::Constant(holds));
        }
    }
    comparison(words)
}

fn comparison(words: &mut Words) -> Result<Predicate, Refusal> {
    let name = words.name()?;
    let word = words.next();
    let case = case(words)?;
    let how = match &word {
        Some(Word::Mark("==" | "=")) => How::Equal(wanted(words)?),
        Some(Word::Mark("!=")) => How::Different(wanted(words)?),
        Some(Word::Mark(mark @ ("<" | "<=" | ">" | ">="))) => match words.next() {
            Some(Word::Number(number)) => How::Compares(mark, number),
            other => return Err(surprise(other.as_ref())),
        },
        Some(Word::Name(operator)) => match operator.to_ascii_uppercase().as_str() {
            "BEGINSWITH" => How::Begins(words.text()?),
            "ENDSWITH" => How::Ends(words.text()?),
            "CONTAINS" => How::Contains(words.text()?),
            "LIKE" => How::Matches(pattern(&like(&words.text()?), case)?),
            "MATCHES" => How::Matches(pattern(&words.text()?, case)?),
            "IN" => How::In(list(words)?),
            _ => return Err(surprise(word.as_ref())),
        },
        other => return Err(surprise(other.as_ref())),
    };
    Ok(Predicate::Is { name, how, case })
}

/// `[c]`, `[d]` or both after an operator.
fn case(words: &mut Words) -> Result<Case, Refusal> {
    if !words.takes("[") {
        return Ok(Case::Counts);
    }
    let flags = words.name()?;
    words.expect("]")?;
    Ok(if flags.contains(['c', 'C']) { Case::Ignored } else { Case::Counts })
}

fn wanted(words: &mut Words) -> Result<Wanted, Refusal> {
    match words.next() {
        Some(Word::Text(text)) => Ok(Wanted::Text(text)),
        Some(Word::Number(number)) => Ok(Wanted::Number(number)),
        Some(Word::Name(name)) if ["true", "yes"].contains(&name.to_lowercase().as_str()) => {
            Ok(Wanted::Flag(true))
        }
        Some(Word::Name(name)) if ["false", "no"].contains(&name.to_lowercase().as_str()) => {
            Ok(Wanted::Flag(false))
        }
        Some(Word::Name(name)) if ["nil", "null"].contains(&name.to_lowercase().as_str()) => {
            Ok(Wanted::Nothing)
        }
        other => Err(surprise(other.as_ref())),
    }
}

fn list(words: &mut Words) -> Result<Vec<String>, Refusal> {
    words.expect("{")?;
    let mut all = vec![words.text()?];
    while words.takes(",") {
        all.push(words.text()?);
    }
    words.expect("}")?;
    Ok(all)
}

fn pattern(text: &str, case: Case) -> Result<Regex, Refusal> {
    RegexBuilder::new(&format!("^(?:{text})$"))
        .case_insensitive(case == Case::Ignored)
        .size_limit(1 << 20)
        .build()
        .map_err(|_| Refusal::invalid_selector("the pattern cannot be read"))
}

/// `*` stands for anything, `?` for one character.
fn like(text: &str) -> String {
    let piece = |character: char| match character {
        '*' => ".*".to_owned(),
        '?' => ".".to_owned(),
        other => regex::escape(other.encode_utf8(&mut [0; 4])),
    };
    text.chars().map(piece).collect()
}
