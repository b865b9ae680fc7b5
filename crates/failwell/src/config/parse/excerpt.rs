//! One line of the file for an error message, with the columns to underline.

use std::ops::Range;

/// A shortened line without its secret parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    pub(super) text: String,
    /// The number of characters before the underlined ones.
    pub(super) start: usize,
    /// The number of underlined characters, at least one.
    pub(super) width: usize,
}

/// Replaces a part that is not shown.
const HIDDEN: char = '…';
/// Maximum number of characters before and after the underlined ones.
const BEFORE: usize = 60;
const AFTER: usize = 60;

impl Excerpt {
    /// Shortens a line. `marked` and `hidden` are offsets within it; `hidden` is sorted.
    pub(super) fn cut(line: &str, marked: &Range<usize>, hidden: &[Range<usize>]) -> Excerpt {
        let mut shown: Vec<char> = Vec::new();
        let (mut start, mut end) = (None, None);
        let mut hidden = hidden.iter().peekable();
        let mut last_hidden = None;
        for (at, character) in line.char_indices() {
            while hidden.next_if(|range| range.end <= at).is_some() {}
            let within = hidden.peek().filter(|range| range.contains(&at)).map(|range| range.start);
            if within.is_none() || within != last_hidden {
                shown.push(if within.is_some() { HIDDEN } else { harmless(character) });
            }
            last_hidden = within;
            let column = shown.len().saturating_sub(1);
            if at >= marked.start && start.is_none() {
                start = Some(column);
            }
            if at < marked.end {
                end = Some(column + 1);
            }
        }
        let start = start.unwrap_or(shown.len());
        let end = end.unwrap_or(0).max(start + 1);
        Excerpt::window(&shown, start..end)
    }

    fn window(shown: &[char], marked: Range<usize>) -> Excerpt {
        let from = marked.start.saturating_sub(BEFORE);
        let to = shown.len().min(marked.start + AFTER);
        let mut text: String = shown.get(from..to).unwrap_or_default().iter().collect();
        let mut start = marked.start - from;
        if from > 0 {
            text.insert(0, HIDDEN);
            start += 1;
        }
        if to < shown.len() {
            text.push(HIDDEN);
        }
        let width = marked.end.min(marked.start + AFTER) - marked.start;
        Excerpt { text: text.trim_end().to_owned(), start, width }
    }
}

/// Replaces characters that could move the cursor or change the writing direction.
pub(super) fn harmless_text(text: &str) -> String {
    text.chars().map(harmless).collect()
}

fn harmless(character: char) -> char {
    match character {
        '\t' => ' ',
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => {
            '\u{fffd}'
        }
        other if other.is_control() => '\u{fffd}',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::Excerpt;

    fn check(line: &str, marked: std::ops::Range<usize>, hidden: &[std::ops::Range<usize>], expected: &str) {
        let cut = Excerpt::cut(line, &marked, hidden);
        let marks = format!("{}{}", " ".repeat(cut.start), "^".repeat(cut.width));
        assert_eq!(format!("{}\n{marks}", cut.text), expected, "{line}");
    }

    #[test]
    fn marks_stand_under_what_they_mark() {
        check("listen = 5", 9..10, &[], "listen = 5\n         ^");
        check("ключ = 5", 11..12, &[], "ключ = 5\n       ^");
        check("a\t=\u{1b}[5", 1..3, &[], "a =\u{fffd}[5\n ^^");
        check("short", 5..5, &[], "short\n     ^");
        check("", 0..0, &[], "\n^");
    }

    #[test]
    fn what_is_hidden_is_one_mark_whatever_its_length() {
        let line = "k = { A = \"secret\", B = 5 }";
        check(
            line,
            24..25,
            std::slice::from_ref(&(11..17)),
            "k = { A = \"…\", B = 5 }\n                   ^",
        );
        check(line, 10..18, std::slice::from_ref(&(11..17)), "k = { A = \"…\", B = 5 }\n          ^^^");
        check(line, 12..14, std::slice::from_ref(&(4..27)), "k = …\n    ^");
    }

    #[test]
    fn long_lines_are_cut_around_the_mark() {
        let line = format!("{}!{}", "a".repeat(500), "b".repeat(500));
        let cut = Excerpt::cut(&line, &(500..501), &[]);
        assert!(cut.text.chars().count() <= 125, "{}", cut.text.len());
        assert_eq!(cut.text.chars().nth(cut.start), Some('!'));
    }
}
