//! Values that differ from run to run become placeholders; all other bytes stay.
//!
//! `<ref 1>` is the first reference, `<ref 2>` the second. `<time>`, `<stack>`, `<connection>`, `<folder>`, `<place>` (a
//! source location) and `<ms>` (a delay with jitter) replace any such value. `<x*70>` is `x` seventy times.

use std::path::Path;

/// Runs of one character longer than this are counted.
const LONGEST_RUN: usize = 200;

/// The text with its placeholders.
pub(crate) fn blank(text: &str, folder: &Path) -> String {
    let mut text = text.replace(&*folder.to_string_lossy(), "<folder>");
    for (member, placeholder) in
        [("timestamp", "<time>"), ("stack_trace", "<stack>"), ("connection_id", "<connection>")]
    {
        text = texts(&text, member).into_iter().fold(text.clone(), |all, found| {
            let from = format!("\"{member}\":\"{found}\"");
            all.replace(&from, &format!("\"{member}\":\"{placeholder}\""))
        });
    }
    // Work of the program itself has a reference too, which occurs only in the details of its failure.
    let mut references = texts(&text, "ref");
    let own = texts(&text, "request").into_iter().filter(|value| is_reference(value));
    references.extend(own.filter(|value| !references.contains(value)).collect::<Vec<_>>());
    for (n, reference) in references.iter().enumerate() {
        text = text.replace(reference, &format!("<ref {}>", n + 1));
    }
    counted(&without_places(&random_waits(&text)))
}

fn is_reference(text: &str) -> bool {
    text.len() == 13 && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// The distinct string values of a member, in order.
fn texts(text: &str, member: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for after in text.split(&format!("\"{member}\":\"")).skip(1) {
        let value = until_quote(after);
        if !found.iter().any(|known| known == value) {
            found.push(value.to_owned());
        }
    }
    found
}

/// Up to the quote that ends a JSON text.
fn until_quote(text: &str) -> &str {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return text.get(..at).unwrap_or(text),
            _ => {}
        }
    }
    text
}

/// The retry delay of an open circuit breaker has jitter; every other delay is fixed.
fn random_waits(text: &str) -> String {
    let lines = text.split_inclusive('\n');
    lines
        .map(|line| if line.contains("CIRCUIT_OPEN") { without_waits(line) } else { line.to_owned() })
        .collect()
}

fn without_waits(text: &str) -> String {
    let key = "\"retry_after_ms\":";
    let mut parts = text.split(key);
    let mut done = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.len() - part.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        done.push_str(key);
        done.push_str("<ms>");
        done.push_str(part.get(digits..).unwrap_or_default());
    }
    done
}

/// Source locations, which change with the code.
fn without_places(text: &str) -> String {
    let mut done = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(".rs:") {
        let (before, after) = rest.split_at(at);
        let start = before.rfind([' ', '"', '\\']).map_or(0, |at| at + 1);
        let numbers = after.get(4..).unwrap_or_default();
        done.push_str(before.get(..start).unwrap_or_default());
        done.push_str("<place>");
        rest = numbers.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
    }
    done + rest
}

fn counted(text: &str) -> String {
    let mut done = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let run = rest.len() - rest.trim_start_matches(c).len();
        let (this, after) = rest.split_at(run);
        let count = run / c.len_utf8();
        if count > LONGEST_RUN {
            done.push_str(&format!("<{c}*{count}>"));
        } else {
            done.push_str(this);
        }
        rest = after;
    }
    done
}
