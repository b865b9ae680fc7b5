use std::path::{Path, PathBuf};

use serde::Serialize;

use super::excerpt::Excerpt;
use crate::terminal::Paint;

/// One thing that is wrong with the file, ready to be shown: nothing secret is left in it.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(super) file: PathBuf,
    pub(super) place: Option<Place>,
    /// Which setting, such as `upstream[0].timeout_s`.
    pub(super) key: Option<String>,
    pub(super) message: String,
    pub(super) help: String,
    pub(super) sort: Sort,
}

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    /// The file.
    Setting,
    /// Something the file names, which does not load.
    Extension,
    /// A `${…}` that cannot be filled in here and now.
    Placeholder,
}

/// Where in the file, counted from 1.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) excerpt: Excerpt,
}

/// A problem for programs.
#[derive(Serialize)]
pub(crate) struct ProblemRow<'a> {
    line: Option<usize>,
    column: Option<usize>,
    key: Option<&'a str>,
    message: &'a str,
    help: &'a str,
}

impl Problem {
    /// A problem with the file as a whole.
    pub(crate) fn of_file(file: &Path, message: impl Into<String>, help: impl Into<String>) -> Problem {
        Problem {
            file: file.to_owned(),
            place: None,
            key: None,
            message: message.into(),
            help: help.into(),
            sort: Sort::Setting,
        }
    }

    /// What is wrong.
    pub(crate) fn sort(&self) -> Sort {
        self.sort
    }

    /// Which line, when it is about one.
    pub(crate) fn line(&self) -> Option<usize> {
        self.place.as_ref().map(|place| place.line)
    }

    /// Whether it is about where state is kept and how: the file as a whole, a key at its top, or the ledger. A secret
    /// that is not here is not.
    pub(super) fn is_about_place(&self) -> bool {
        let is_near = |key: &str| key.starts_with("audit.") || !key.contains(['.', '[']);
        self.sort != Sort::Placeholder && self.key.as_deref().is_none_or(is_near)
    }

    /// Where it stands among the others.
    pub(super) fn position(&self) -> (usize, usize) {
        self.place.as_ref().map_or((0, 0), |place| (place.line, place.column))
    }

    pub(crate) fn row(&self) -> ProblemRow<'_> {
        ProblemRow {
            line: self.line(),
            column: self.place.as_ref().map(|place| place.column),
            key: self.key.as_deref(),
            message: &self.message,
            help: &self.help,
        }
    }

    /// The problem as the person at the terminal sees it.
    pub(crate) fn text(&self, paint: Paint) -> String {
        let mut text = format!("{} {}\n", paint.red("error:"), self.message);
        let file = self.file.display();
        match &self.place {
            None => text.push_str(&format!("  {} {file}\n", paint.faint("-->"))),
            Some(Place { line, column, excerpt }) => {
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
