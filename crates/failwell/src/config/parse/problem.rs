use std::path::{Path, PathBuf};

use serde::Serialize;

use super::excerpt::Excerpt;
use crate::parts::Part;
use crate::terminal::Paint;

/// One problem of the file. Its texts contain no secret.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(in crate::config) file: PathBuf,
    pub(in crate::config) place: Option<LineColumn>,
    /// The path of the setting, such as `upstream[0].timeout_s`.
    pub(in crate::config) key: Option<String>,
    pub(in crate::config) message: String,
    pub(in crate::config) help: String,
    pub(in crate::config) sort: Sort,
    /// The part that this build lacks, if that is the problem.
    pub(in crate::config) part: Option<Part>,
}

/// The kind of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    /// A mistake in the file itself.
    Setting,
    /// The file may not be read.
    Unreadable,
    /// A guard or extension that does not load.
    Extension,
    /// A placeholder that cannot be expanded in this environment.
    Placeholder,
}

/// A position in the file, counted from 1.
#[derive(Debug)]
pub(in crate::config) struct LineColumn {
    pub(in crate::config) line: usize,
    pub(super) column: usize,
    pub(super) excerpt: Excerpt,
}

/// A problem in the JSON output.
#[derive(Serialize)]
pub(crate) struct ProblemRow<'a> {
    line: Option<usize>,
    column: Option<usize>,
    key: Option<&'a str>,
    message: &'a str,
    help: &'a str,
    /// The cargo feature that solves the problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    feature: Option<&'static str>,
}

impl Problem {
    /// A problem of the whole file.
    pub(crate) fn of_file(file: &Path, message: impl Into<String>, help: impl Into<String>) -> Problem {
        Problem {
            file: file.to_owned(),
            place: None,
            key: None,
            message: message.into(),
            help: help.into(),
            sort: Sort::Setting,
            part: None,
        }
    }

    pub(crate) fn sort(&self) -> Sort {
        self.sort
    }

    /// The line, if the problem has one.
    pub(crate) fn line(&self) -> Option<usize> {
        self.place.as_ref().map(|place| place.line)
    }

    /// Whether it concerns the location of state: the whole file, a top-level key, or the ledger. A
    /// placeholder that cannot be expanded does not count.
    pub(in crate::config) fn is_about_place(&self) -> bool {
        let is_near = |key: &str| key.starts_with("audit.") || !key.contains(['.', '[']);
        self.sort != Sort::Placeholder && self.key.as_deref().is_none_or(is_near)
    }

    /// The sort key.
    pub(in crate::config) fn position(&self) -> (usize, usize) {
        self.place.as_ref().map_or((0, 0), |place| (place.line, place.column))
    }

    /// The problem in one line: where, what, and what to do.
    pub(crate) fn brief(&self) -> String {
        let place = self.place.as_ref().map_or(String::new(), |place| format!("line {}: ", place.line));
        format!("{place}{}; {}", self.message, self.help)
    }

    pub(crate) fn row(&self) -> ProblemRow<'_> {
        ProblemRow {
            line: self.line(),
            column: self.place.as_ref().map(|place| place.column),
            key: self.key.as_deref(),
            message: &self.message,
            help: &self.help,
            feature: self.part.map(|part| part.feature),
        }
    }

    /// The problem as text for the terminal.
    pub(crate) fn text(&self, paint: Paint) -> String {
        let mut text = format!("{} {}\n", paint.red("error:"), self.message);
        let file = self.file.display();
        match &self.place {
            None => text.push_str(&format!("  {} {file}\n", paint.faint("-->"))),
            Some(LineColumn { line, column, excerpt }) => {
                let margin = " ".repeat(line.to_string().len());
                let bar = paint.faint("|");
                text.push_str(&format!("{margin}{} {file}:{line}:{column}\n", paint.faint("-->")));
                text.push_str(&format!(
                    "{margin} {bar}\n{} {bar} {}\n",
                    paint.faint(&line.to_string()),
                    excerpt.text
                ));
                let (indent, carets) = (" ".repeat(excerpt.start), "^".repeat(excerpt.width));
                text.push_str(&format!("{margin} {bar} {indent}{}\n", paint.red(&carets)));
            }
        }
        text.push_str(&format!("{} {}\n", paint.bold("help:"), self.help));
        text
    }
}
