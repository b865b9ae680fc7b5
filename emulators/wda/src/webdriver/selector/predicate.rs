//! Predicate strings: `type == "XCUIElementTypeButton" AND label BEGINSWITH[c] "log"`.

use regex::{Regex, RegexBuilder};

use super::lex::{Token, TokenStream, unexpected_token};
use crate::phone::screen::{Attribute, Screen, attribute};
use crate::webdriver::webdriver_error::WebDriverError;

#[derive(Debug)]
pub(crate) enum Predicate {
    All(Vec<Predicate>),
    Any(Vec<Predicate>),
    Not(Box<Predicate>),
    Is { name: String, how: Comparison, case: CaseSensitivity },
    Constant(bool),
}

#[derive(Debug)]
pub(crate) enum Comparison {
    Equal(PredicateValue),
    Different(PredicateValue),
    Begins(String),
    Ends(String),
    Contains(String),
    Matches(Regex),
    In(Vec<String>),
    Compares(&'static str, i32),
}

#[derive(Debug)]
pub(crate) enum PredicateValue {
    Text(String),
    Number(i32),
    Flag(bool),
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaseSensitivity {
    Counts,
    Ignored,
}

impl Predicate {
    pub(crate) fn parse(text: &str) -> Result<Predicate, WebDriverError> {
        let mut words = TokenStream::new(text)?;
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

impl Comparison {
    fn holds(&self, found: &Attribute, case: CaseSensitivity) -> bool {
        let same =
            |text: &str| if case == CaseSensitivity::Ignored { text.to_lowercase() } else { text.to_owned() };
        let text = found.written().map(|text| same(&text));
        let with = |test: fn(&str, &str) -> bool, wanted: &str| {
            text.as_deref().is_some_and(|text| test(text, &same(wanted)))
        };
        match self {
            Comparison::Equal(wanted) => wanted.is(found, case),
            Comparison::Different(wanted) => !wanted.is(found, case),
            Comparison::Begins(wanted) => with(|text, part| text.starts_with(part), wanted),
            Comparison::Ends(wanted) => with(|text, part| text.ends_with(part), wanted),
            Comparison::Contains(wanted) => with(|text, part| text.contains(part), wanted),
            Comparison::Matches(pattern) => found.written().is_some_and(|text| pattern.is_match(&text)),
            Comparison::In(all) => all.iter().any(|one| text.as_deref() == Some(same(one).as_str())),
            Comparison::Compares(mark, wanted) => {
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

impl PredicateValue {
    fn is(&self, found: &Attribute, case: CaseSensitivity) -> bool {
        match (self, found) {
            (PredicateValue::Text(wanted), Attribute::Text(found)) if case == CaseSensitivity::Ignored => {
                wanted.to_lowercase() == found.to_lowercase()
            }
            (PredicateValue::Text(wanted), Attribute::Text(found)) => wanted == found,
            (PredicateValue::Text(wanted), Attribute::Flag(found)) => *wanted == found.to_string(),
            (PredicateValue::Number(wanted), Attribute::Number(found)) => wanted == found,
            (PredicateValue::Number(wanted), Attribute::Flag(found)) => *wanted == i32::from(*found),
            (PredicateValue::Number(wanted), Attribute::Text(found)) => *found == wanted.to_string(),
            (PredicateValue::Flag(wanted), Attribute::Flag(found)) => wanted == found,
            (PredicateValue::Nothing, Attribute::Nothing) => true,
            _ => false,
        }
    }
}

fn any(words: &mut TokenStream) -> Result<Predicate, WebDriverError> {
    let mut parts = vec![all(words)?];
    while words.takes_name("OR") || words.takes("||") {
        parts.push(all(words)?);
    }
    Ok(Predicate::Any(parts))
}

fn all(words: &mut TokenStream) -> Result<Predicate, WebDriverError> {
    let mut parts = vec![parse_comparison(words)?];
    while words.takes_name("AND") || words.takes("&&") {
        parts.push(parse_comparison(words)?);
    }
    Ok(Predicate::All(parts))
}

fn parse_comparison(words: &mut TokenStream) -> Result<Predicate, WebDriverError> {
    if words.takes_name("NOT") || words.takes("!") {
        return Ok(Predicate::Not(Box::new(words.deeper(parse_comparison)?)));
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

fn comparison(words: &mut TokenStream) -> Result<Predicate, WebDriverError> {
    let name = words.name()?;
    let word = words.next();
    let case = case(words)?;
    let how = match &word {
        Some(Token::Mark("==" | "=")) => Comparison::Equal(wanted(words)?),
        Some(Token::Mark("!=")) => Comparison::Different(wanted(words)?),
        Some(Token::Mark(mark @ ("<" | "<=" | ">" | ">="))) => match words.next() {
            Some(Token::Number(number)) => Comparison::Compares(mark, number),
            other => return Err(unexpected_token(other.as_ref())),
        },
        Some(Token::Name(operator)) => match operator.to_ascii_uppercase().as_str() {
            "BEGINSWITH" => Comparison::Begins(words.text()?),
            "ENDSWITH" => Comparison::Ends(words.text()?),
            "CONTAINS" => Comparison::Contains(words.text()?),
            "LIKE" => Comparison::Matches(pattern(&like(&words.text()?), case)?),
            "MATCHES" => Comparison::Matches(pattern(&words.text()?, case)?),
            "IN" => Comparison::In(list(words)?),
            _ => return Err(unexpected_token(word.as_ref())),
        },
        other => return Err(unexpected_token(other.as_ref())),
    };
    Ok(Predicate::Is { name, how, case })
}

/// `[c]`, `[d]` or both after an operator.
fn case(words: &mut TokenStream) -> Result<CaseSensitivity, WebDriverError> {
    if !words.takes("[") {
        return Ok(CaseSensitivity::Counts);
    }
    let flags = words.name()?;
    words.expect("]")?;
    Ok(if flags.contains(['c', 'C']) { CaseSensitivity::Ignored } else { CaseSensitivity::Counts })
}

fn wanted(words: &mut TokenStream) -> Result<PredicateValue, WebDriverError> {
    match words.next() {
        Some(Token::Text(text)) => Ok(PredicateValue::Text(text)),
        Some(Token::Number(number)) => Ok(PredicateValue::Number(number)),
        Some(Token::Name(name)) if ["true", "yes"].contains(&name.to_lowercase().as_str()) => {
            Ok(PredicateValue::Flag(true))
        }
        Some(Token::Name(name)) if ["false", "no"].contains(&name.to_lowercase().as_str()) => {
            Ok(PredicateValue::Flag(false))
        }
        Some(Token::Name(name)) if ["nil", "null"].contains(&name.to_lowercase().as_str()) => {
            Ok(PredicateValue::Nothing)
        }
        other => Err(unexpected_token(other.as_ref())),
    }
}

fn list(words: &mut TokenStream) -> Result<Vec<String>, WebDriverError> {
    words.expect("{")?;
    let mut all = vec![words.text()?];
    while words.takes(",") {
        all.push(words.text()?);
    }
    words.expect("}")?;
    Ok(all)
}

fn pattern(text: &str, case: CaseSensitivity) -> Result<Regex, WebDriverError> {
    RegexBuilder::new(&format!("^(?:{text})$"))
        .case_insensitive(case == CaseSensitivity::Ignored)
        .size_limit(1 << 20)
        .build()
        .map_err(|_| WebDriverError::invalid_selector("the pattern cannot be read"))
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
