//! The configuration of `up` and `stdio`.

use std::path::{Path, PathBuf};

use failwell_fault::{Excerpt, Fault, reason};

use crate::complaint::Complaint;
use crate::config::{self, Config, DEFAULT_FILE, Problem, ProblemSort};
use crate::terminal::{self, Paint};

/// Maximum number of problems that a client is told in words.
const MOST_REPORTED: usize = 5;

/// An unusable configuration file with all of its problems.
pub(super) struct ConfigFileError {
    pub(super) file: PathBuf,
    pub(super) problems: Vec<Problem>,
}

/// Loads the named file, otherwise the file in the current folder, otherwise the defaults.
pub(super) fn settle(named: Option<&Path>) -> Result<Config, ConfigFileError> {
    let Some(file) = config::find(named) else { return Ok(Config::default()) };
    config::load(&file).map_err(|problems| ConfigFileError { file, problems })
}

/// Loads only the settings that say where state is stored. Commands that read state files use it.
pub(super) fn settle_place(named: Option<&Path>) -> Result<Config, ConfigFileError> {
    let Some(file) = config::find(named) else { return Ok(Config::default()) };
    config::load_place(&file).map_err(|problems| ConfigFileError { file, problems })
}

impl ConfigFileError {
    /// Prints every problem and returns the closing error for the terminal.
    pub(super) fn report(self) -> Complaint {
        let paint = Paint::for_stderr();
        for problem in &self.problems {
            terminal::report(&format!("{}\n", problem.text(paint)));
        }
        if self.file.symlink_metadata().is_err() {
            let title = format!("there is no file {}", self.file.display());
            return Complaint::new(title, "name another file, or write one with `failwell init`");
        }
        let count = counted(self.problems.len(), "problem");
        Complaint::new(format!("{} has {count}", self.file.display()), self.hint())
    }

    /// Every problem as JSON: its line, its key, what is wrong and what to do.
    pub(super) fn rows(&self) -> String {
        let rows: Vec<_> = self.problems.iter().map(Problem::row).collect();
        serde_json::to_string(&rows).unwrap_or_default()
    }

    fn hint(&self) -> String {
        match self.file.to_str() {
            Some(DEFAULT_FILE) | None => "correct it, and look again with `failwell check`".to_owned(),
            Some(file) => format!("correct it, and look again with `failwell check {file}`"),
        }
    }

    /// The fault for a caller: the number of problems, the first line, and the first problems in words. A desktop client
    /// shows nothing else. The words contain no secret.
    pub(super) fn fault(&self) -> impl Fn() -> Fault + use<> {
        let file = self.file.display().to_string();
        let (count, line) = (self.problems.len(), self.problems.iter().find_map(Problem::line));
        let all = |sort: ProblemSort| self.problems.iter().all(|problem| problem.sort() == sort);
        let row = match (all(ProblemSort::Extension), all(ProblemSort::Unreadable)) {
            (true, _) => &reason::CONFIG_PLUGIN,
            (_, true) => &reason::CONFIG_UNREADABLE,
            _ => &reason::CONFIG_INVALID,
        };
        let excerpt: Vec<String> = self.problems.iter().take(MOST_REPORTED).map(Problem::brief).collect();
        let excerpt = Excerpt::of_trusted(&excerpt.join("\n"));
        move || {
            let fault = Fault::new(row).fact("problems", count).note("file", file.clone());
            let fault = match excerpt.clone() {
                Some(excerpt) => fault.with_excerpt(excerpt),
                None => fault,
            };
            match line {
                Some(line) => fault.fact("line", line),
                None => fault,
            }
        }
    }
}

/// `1 problem`, `2 problems`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
