//! Class chains: ``**/XCUIElementTypeCell[`label == "Rice"`][-1]/XCUIElementTypeButton``.

use super::predicate::Predicate;
use crate::phone::screen::Screen;
use crate::webdriver::webdriver_error::WebDriverError;

struct ChainStep<'a> {
    deep: bool,
    kind: &'a str,
    conditions: Vec<ChainCondition>,
}

enum ChainCondition {
    Holds(Predicate),
    /// Something below it has to hold.
    Below(Predicate),
    /// Counted from 1, or from the end when below 0.
    Place(i32),
}

pub(super) fn find(screen: &Screen, under: usize, chain: &str) -> Result<Vec<usize>, WebDriverError> {
    let mut found = vec![under];
    let mut rest = chain;
    while !rest.is_empty() {
        let (step, after) = read(rest)?;
        found = take(screen, &found, &step);
        rest = after;
    }
    if chain.is_empty() { Err(WebDriverError::invalid_selector("the chain is empty")) } else { Ok(found) }
}

fn take(screen: &Screen, from: &[usize], step: &ChainStep<'_>) -> Vec<usize> {
    let mut found: Vec<usize> = vec![];
    for &start in from {
        let candidates = if step.deep { screen.below(start) } else { screen.children(start).to_vec() };
        let is_kind = |&index: &usize| {
            step.kind == "*" || screen.node(index).is_some_and(|node| node.type_name() == step.kind)
        };
        let mut left: Vec<usize> = candidates.into_iter().filter(is_kind).collect();
        for condition in &step.conditions {
            left = narrowed(screen, left, condition);
        }
        found.extend(left);
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn narrowed(screen: &Screen, all: Vec<usize>, condition: &ChainCondition) -> Vec<usize> {
    match condition {
        ChainCondition::Holds(predicate) => {
            all.into_iter().filter(|&index| predicate.holds(screen, index)).collect()
        }
        ChainCondition::Below(predicate) => {
            let has =
                |&index: &usize| screen.below(index).into_iter().any(|below| predicate.holds(screen, below));
            all.into_iter().filter(has).collect()
        }
        ChainCondition::Place(place) => {
            let back = usize::try_from(place.unsigned_abs()).unwrap_or(usize::MAX);
            let at = if *place > 0 { back.checked_sub(1) } else { all.len().checked_sub(back) };
            at.and_then(|at| all.get(at)).map(|&index| vec![index]).unwrap_or_default()
        }
    }
}

fn read(text: &str) -> Result<(ChainStep<'_>, &str), WebDriverError> {
    let (deep, text) = match text.strip_prefix("**/") {
        Some(after) => (true, after),
        None => (false, text),
    };
    let end = text.find(['/', '[']).unwrap_or(text.len());
    let (kind, mut rest) = text.split_at(end);
    if kind != "*" && !(kind.starts_with("XCUIElementType") && kind.chars().all(char::is_alphanumeric)) {
        return Err(WebDriverError::invalid_selector(format!("'{kind}' is not a type of elements")));
    }
    let mut conditions = vec![];
    while let Some(inside) = rest.strip_prefix('[') {
        let (condition, after) = condition(inside)?;
        conditions.push(condition);
        rest = after.strip_prefix(']').ok_or_else(|| WebDriverError::invalid_selector("] is missing"))?;
    }
    if rest == "/" {
        return Err(WebDriverError::invalid_selector("the chain ends with /"));
    }
    let rest = match rest.strip_prefix('/') {
        Some(after) => after,
        None if rest.is_empty() => rest,
        None => return Err(WebDriverError::invalid_selector(format!("'{rest}' is not expected here"))),
    };
    Ok((ChainStep { deep, kind, conditions }, rest))
}

fn condition(text: &str) -> Result<(ChainCondition, &str), WebDriverError> {
    let fenced = |fence: char| -> Result<(Predicate, &str), WebDriverError> {
        let inside = text.get(1..).unwrap_or_default();
        let (predicate, after) = inside
            .split_once(fence)
            .ok_or_else(|| WebDriverError::invalid_selector(format!("{fence} is missing")))?;
        Ok((Predicate::parse(predicate)?, after))
    };
    match text.chars().next() {
        Some('`') => fenced('`').map(|(predicate, after)| (ChainCondition::Holds(predicate), after)),
        Some('$') => fenced('$').map(|(predicate, after)| (ChainCondition::Below(predicate), after)),
        _ => {
            let end = text.find(']').unwrap_or(text.len());
            let (number, after) = text.split_at(end);
            let place: i32 =
                number.parse().map_err(|_| WebDriverError::invalid_selector("a place is a number"))?;
            if place == 0 {
                return Err(WebDriverError::invalid_selector(
                    "places are counted from 1, or from -1 backwards",
                ));
            }
            Ok((ChainCondition::Place(place), after))
        }
    }
}
