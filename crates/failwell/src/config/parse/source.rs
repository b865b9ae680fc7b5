use std::ops::Range;
use std::path::PathBuf;

use super::excerpt::{Excerpt, harmless_text};
use super::problem::{LineColumn, Problem, Sort};

/// The text of the file and the parts that no message may show.
pub(in crate::config) struct Source {
    file: PathBuf,
    text: String,
    /// The offset of each line.
    lines: Vec<usize>,
    /// Sorted and without overlap.
    hidden: Vec<Range<usize>>,
}

impl Source {
    pub(in crate::config) fn new(file: PathBuf, text: String, mut hidden: Vec<Range<usize>>) -> Source {
        hidden.sort_by_key(|range| range.start);
        let begins = text.match_indices('\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(begins).collect();
        Source { file, text, lines, hidden }
    }

    /// The text at a span.
    pub(super) fn slice(&self, span: &Range<usize>) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// The line of an offset, counted from 1.
    pub(in crate::config) fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|begin| *begin <= at)
    }

    /// A line without its line break, counted from 1.
    pub(super) fn line_text(&self, line: usize) -> &str {
        let begin = self.line_begin(line);
        let end = self.lines.get(line).copied().unwrap_or(self.text.len());
        self.slice(&(begin..end)).trim_end_matches(['\n', '\r'])
    }

    fn line_begin(&self, line: usize) -> usize {
        self.lines.get(line.saturating_sub(1)).copied().unwrap_or(self.text.len())
    }

    /// Whether any part of a span is hidden.
    pub(super) fn hides(&self, span: &Range<usize>) -> bool {
        self.hidden.iter().any(|hidden| hidden.start < span.end && span.start < hidden.end)
    }

    /// A problem at a position, with an excerpt of its line.
    pub(in crate::config) fn problem(
        &self,
        span: &Range<usize>,
        key: Option<&str>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Problem {
        Problem {
            file: self.file.clone(),
            place: Some(self.place(span)),
            key: key.map(harmless_text),
            message: harmless_text(&message.into()),
            help: harmless_text(&help.into()),
            sort: Sort::Setting,
            part: None,
        }
    }

    fn place(&self, span: &Range<usize>) -> LineColumn {
        let at = self.text.floor_char_boundary(span.start);
        let line = self.line(at);
        let (begin, text) = (self.line_begin(line), self.line_text(line));
        let column = self.slice(&(begin..at)).chars().count() + 1;
        let within =
            |range: &Range<usize>| range.start.saturating_sub(begin)..range.end.saturating_sub(begin);
        let first = self.hidden.partition_point(|range| range.end <= begin);
        let hidden = self.hidden.iter().skip(first).take_while(|range| range.start <= begin + text.len());
        let hidden: Vec<Range<usize>> = hidden.map(within).collect();
        let marked = at - begin..span.end.saturating_sub(begin);
        LineColumn { line, column, excerpt: Excerpt::cut(text, &marked, &hidden) }
    }
}
