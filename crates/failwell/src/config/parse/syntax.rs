//! Syntax errors of the file, in our own words.

use std::collections::BTreeSet;

use super::problem::Problem;
use super::reader::MOST_PROBLEMS;
use super::source::Source;

/// Reports syntax errors and the lines they are on. It reports one error per line and one per unclosed list,
/// because the parser's further errors follow from the first.
pub(in crate::config) fn report(
    source: &Source,
    errors: &[toml::de::Error],
) -> (BTreeSet<usize>, Vec<Problem>) {
    let (mut broken, mut problems) = (BTreeSet::new(), Vec::new());
    let mut is_in_list = false;
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        let (line, message) = (source.line(span.start), error.message());
        let is_echo = !broken.insert(line) || is_in_list && message.contains("array elements");
        is_in_list = message.contains("array") && !message.contains("table");
        if !is_echo && problems.len() <= MOST_PROBLEMS {
            problems.push(source.problem(&span, None, message, help(message)));
        }
    }
    (broken, problems)
}

/// Whether a table header is broken. The table of the following keys is then unknown.
pub(in crate::config) fn is_lost(source: &Source, broken: &BTreeSet<usize>) -> bool {
    broken.iter().any(|line| source.line_text(*line).trim_start().starts_with('['))
}

fn help(message: &str) -> &'static str {
    match message {
        message if message.contains("duplicate key") => "keep one of them",
        message if message.contains("array table") => "write [[name]] with two pairs of brackets",
        message if message.contains("string") => "put text in quotes, and close them on the same line",
        message if message.contains("array") => "close the list with ]",
        message if message.contains("inline table") => "close the table with }",
        message if message.contains("table") => "write a table as [name], and a list of tables as [[name]]",
        _ => "write each setting as key = value, text in quotes",
    }
}
