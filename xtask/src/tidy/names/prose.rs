//! Comments and documents speak without the old vocabulary.

use super::vocabulary::{OLD_WORDS, OldWord, Reach, type_named};
use crate::problem::Problem;
use crate::rust::Token;

pub(super) fn in_comment(path: &str, comment: &Token<'_>) -> Vec<Problem> {
    in_text(path, comment.line, comment.text)
}

/// Fenced blocks are code and output, which keep the names on the wire. So do the anchors and headings of the manual of
/// failures.
pub(super) fn in_document(path: &str, text: &str) -> Vec<Problem> {
    let mut fenced = false;
    let mut problems = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && !is_wire_name(line) {
            problems.extend(in_text(path, index + 1, line));
        }
    }
    problems
}

fn is_wire_name(line: &str) -> bool {
    let heading = line.trim_start_matches('#');
    let is_area =
        heading.len() < line.len() && heading.trim().chars().all(|letter| letter.is_ascii_lowercase());
    line.starts_with("<a id=") || is_area
}

fn in_text(path: &str, first_line: usize, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for (number, span) in line.split('`').enumerate() {
            let found = if number % 2 == 1 { in_code(span) } else { in_sentence(span) };
            problems.extend(found.into_iter().map(|(word, old)| {
                let place = first_line + index;
                let what = format!("{path}:{place}: `{word}` is of the old vocabulary: {}", old.say);
                Problem::new(what, "rewrite the sentence")
            }));
        }
    }
    problems
}

/// Names of types in a code span; everything else there may be on the wire.
fn in_code(span: &str) -> Vec<(&str, &'static OldWord)> {
    let names = span.split(|letter: char| letter != '_' && !letter.is_alphanumeric());
    let names = names.filter(|name| !matches!(*name, "From" | "Result"));
    names.filter_map(|name| type_named(name).map(|old| (name, old))).collect()
}

fn in_sentence(text: &str) -> Vec<(&str, &'static OldWord)> {
    let separators = |letter: char| letter.is_whitespace() || ",;:.!?()[]*\"".contains(letter);
    let mut found = Vec::new();
    let mut before = "";
    for word in text.split(separators).filter(|word| !word.is_empty()) {
        // Links and paths are names, not prose.
        if !word.contains('/') {
            let plain = word.trim_end_matches("'s").trim_matches('\'');
            let parts = plain.split('-').map(str::to_lowercase);
            let old = parts.filter_map(|part| listed(&part)).next();
            found.extend(old.filter(|old| !is_space(old.word, before)).map(|old| (plain, old)));
        }
        before = word.trim_matches('\'');
    }
    found
}

fn listed(word: &str) -> Option<&'static OldWord> {
    OLD_WORDS.iter().find(|old| old.reach == Reach::Everywhere && old.word == word)
}

/// "There is room", "no room", "make room": free space, and no metaphor.
fn is_space(word: &str, before: &str) -> bool {
    let articles =
        ["a", "the", "each", "every", "one", "this", "that", "own", "its", "whose", "another", "your", "our"];
    let is_counted = articles.contains(&before.to_lowercase().as_str()) || before.ends_with("'s");
    word == "room" && !is_counted
}
