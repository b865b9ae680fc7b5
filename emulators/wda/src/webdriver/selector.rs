//! Finding elements: the ways the runner knows.

mod chain;
mod lex;
mod predicate;
#[cfg(test)]
mod tests;
mod xpath;

use super::webdriver_error::WebDriverError;
use crate::phone::screen::{Attribute, Screen, attribute};

pub(crate) use predicate::Predicate;

/// The longest selector; there is no reason for a longer one, and reading it would take long.
const LONGEST: usize = 10_000;
/// How deeply a selector may nest.
const DEEPEST: usize = 50;

/// Finds the matching elements below an element, in the order of the source.
pub(crate) fn find(
    screen: &Screen,
    under: usize,
    using: &str,
    value: &str,
) -> Result<Vec<usize>, WebDriverError> {
    if value.len() > LONGEST {
        return Err(WebDriverError::invalid_selector(format!("the selector is longer than {LONGEST} bytes")));
    }
    match using {
        "accessibility id" | "id" | "name" => {
            Ok(matching(screen, under, |index| has(screen, index, "name", value)))
        }
        "class name" => Ok(matching(screen, under, |index| has(screen, index, "type", value))),
        "predicate string" => {
            let predicate = Predicate::parse(value)?;
            Ok(matching(screen, under, |index| predicate.holds(screen, index)))
        }
        "class chain" => chain::find(screen, under, value),
        "xpath" => xpath::find(screen, under, value),
        "link text" | "partial link text" => {
            let (name, wanted) = value.split_once('=').unwrap_or(("name", value));
            let is_whole = using == "link text";
            Ok(matching(screen, under, |index| match attribute(screen, index, name) {
                Some(Attribute::Text(text)) if is_whole => text == wanted,
                Some(Attribute::Text(text)) => text.contains(wanted),
                _ => false,
            }))
        }
        other => Err(WebDriverError::invalid_argument(format!("Invalid locator requested: {other}"))),
    }
}

fn matching(screen: &Screen, under: usize, holds: impl Fn(usize) -> bool) -> Vec<usize> {
    screen.below(under).into_iter().filter(|&index| holds(index)).collect()
}

fn has(screen: &Screen, index: usize, name: &str, value: &str) -> bool {
    attribute(screen, index, name).and_then(|found| found.written()).as_deref() == Some(value)
}
