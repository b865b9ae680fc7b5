//! Groups failures with the same root cause, so that each cause is reported once.

use std::collections::HashMap;

use crate::report::{Report, Test, TestDetails};

/// Tests with the same error at the same place.
#[derive(Debug)]
pub(crate) struct Group<'a> {
    pub(crate) tests: Vec<&'a Test>,
    pub(crate) error_type: &'a str,
    pub(crate) first: &'a TestDetails,
}

/// The groups, largest first. Groups of equal size keep the order of the run.
pub(crate) fn groups(report: &Report) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut known: HashMap<(&str, &str, &str), usize> = HashMap::new();
    for test in report.tests.iter().filter(|test| test.outcome.is_bad()) {
        let Some(story) = test.story.as_deref() else { continue };
        let error_type = error_type(&story.message);
        // Without a place, two failures belong together only if their messages are equal.
        let place = story.place.as_deref().unwrap_or(&story.message);
        let index = *known.entry((&story.phase, error_type, place)).or_insert_with(|| {
            groups.push(Group { tests: Vec::new(), error_type, first: story });
            groups.len() - 1
        });
        if let Some(group) = groups.get_mut(index) {
            group.tests.push(test);
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.tests.len()));
    groups
}

/// The name of the exception at the beginning of a message. A bare `assert` has none.
fn error_type(message: &str) -> &str {
    let head = message.split([':', '\n']).next().unwrap_or_default().trim();
    let is_name = !head.is_empty()
        && head.len() <= 120
        && head.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
        && head.chars().next().is_some_and(char::is_alphabetic);
    if is_name && head != "assert" { head } else { "AssertionError" }
}

/// Reasons for skipping, most frequent first.
pub(crate) fn skips(report: &Report) -> Vec<(&str, usize)> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for test in report.tests.iter().filter(|test| test.outcome.word() == "skipped") {
        let reason = test.story.as_deref().map_or("", |story| story.message.as_str());
        *counts.entry(reason).or_default() += 1;
    }
    let mut skips: Vec<(&str, usize)> = counts.into_iter().collect();
    skips.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    skips
}

#[cfg(test)]
mod tests {
    use super::error_type;

    #[test]
    fn the_exception_is_read_off_the_message() {
        for (message, expected) in [
            ("ValueError: no such thing", "ValueError"),
            ("assert 1 == 2", "AssertionError"),
            ("AssertionError: not the answer\nassert 1 == 42", "AssertionError"),
            ("json.decoder.JSONDecodeError: Expecting value", "json.decoder.JSONDecodeError"),
            ("KeyError", "KeyError"),
            ("[XPASS(strict)] known", "AssertionError"),
            ("", "AssertionError"),
        ] {
            assert_eq!(error_type(message), expected, "{message}");
        }
    }
}
