//! The report for people: one line a check, the proof under each that did not hold, and the causes in short.

use super::{CheckReport, Report, printable, summary};
use crate::checks::leak::Category;
use crate::checks::verdict::{Level, Verdict};

/// Lines of proof shown per side; the JSON report holds more.
const PROOF_LINES: usize = 8;
const PROOF_HEAD: usize = 440;
const PROOF_TAIL: usize = 60;
/// Causes listed in the summary.
const CAUSES_SHOWN: usize = 10;
/// Spaces before the further lines of a check.
const INDENT: usize = 4;

/// How much of the report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The causes and the score.
    Summary,
    /// One line a check, and an excerpt of the proof under each that did not hold.
    Checks,
    /// The same with the whole proof.
    Proof,
}

struct TextPaint {
    on: bool,
}

impl TextPaint {
    fn ink(&self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

impl Report {
    /// The report as text at most `width` wide; `color` adds terminal escapes.
    pub fn table(&self, width: usize, color: bool, detail: Detail) -> String {
        let paint = TextPaint { on: color };
        let width = width.max(60);
        let mut out = self.heading();
        if detail != Detail::Summary {
            out.push_str(&self.sections(width, detail, &paint));
        }
        out.push_str(&self.in_short(width, &paint));
        out.push_str(&self.ending(&paint));
        out
    }

    fn sections(&self, width: usize, detail: Detail, paint: &TextPaint) -> String {
        let (mut out, mut group) = (String::new(), String::new());
        for check in &self.checks {
            let section = format!("{} · {}", check.group, check.revision.date());
            if section != group {
                out.push_str(&format!("\n{}\n", paint.ink("1", &section)));
                group = section;
            }
            out.push_str(&line(check, width, paint));
            if matches!(check.verdict, Verdict::Broken { .. } | Verdict::Short { .. }) {
                out.push_str(&proof(check, width, detail, paint));
            }
        }
        out
    }

    /// The findings by cause, the heaviest first.
    fn in_short(&self, width: usize, paint: &TextPaint) -> String {
        let causes = summary::causes(&self.checks);
        if causes.is_empty() {
            return String::new();
        }
        let mut out = format!("\n{}\n", paint.ink("1", "in short"));
        for cause in causes.iter().take(CAUSES_SHOWN) {
            let (sign, ink) = if cause.is_broken { ("✗", "31") } else { ("~", "33") };
            let count = cause.checks.len();
            let first = cause.checks.first().copied().unwrap_or_default();
            let others = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
            let text = printable(format!("{} ({first}{others})", cause.why).as_bytes(), 400);
            out.push_str(&row(
                &paint.ink(ink, sign),
                &format!("{count:>3} × {}", text.replace('\n', " ")),
                width,
            ));
        }
        if causes.len() > CAUSES_SHOWN {
            out.push_str(&format!("      … and {} more causes\n", causes.len() - CAUSES_SHOWN));
        }
        out
    }

    fn heading(&self) -> String {
        let name = printable(self.server_name.as_deref().unwrap_or("unnamed server").as_bytes(), 80);
        let version = printable(self.server_version.as_deref().unwrap_or("").as_bytes(), 40);
        let dates: Vec<&str> = self.revisions.iter().map(|revision| revision.date()).collect();
        let tool =
            self.tool.as_ref().map(|tool| format!("\ntool called: {}", printable(tool.as_bytes(), 80)));
        format!(
            "{name} {version}\n{}\nspeaks {}{}\n",
            printable(self.target.as_bytes(), 200),
            dates.join(", "),
            tool.unwrap_or_default()
        )
    }

    fn ending(&self, paint: &TextPaint) -> String {
        let tally = self.tally;
        let unfinished = if self.complete { "" } else { ", out of time before the end" };
        let leaks = self.leaks.iter().filter(|leak| leak.category != Category::ValidatorDump).count();
        format!(
            "\n{}  {leaks} leaks, {} raw validator messages, {:.1} s{unfinished}\n\
             ✓ {} held · ~ {} lack a recommendation · ✗ {} broken · – {} do not apply\n",
            paint.ink("1", &format!("score {}", self.score)),
            self.leaks.len() - leaks,
            self.duration.as_secs_f64(),
            tally.held,
            tally.short,
            tally.broken,
            tally.not_applicable,
        )
    }
}

fn line(check: &CheckReport, width: usize, paint: &TextPaint) -> String {
    let (sign, ink) = match check.verdict {
        Verdict::Held { .. } => ("✓", "32"),
        Verdict::Short { .. } => ("~", "33"),
        Verdict::Broken { .. } => ("✗", "31"),
        Verdict::NotApplicable { .. } => ("–", "2"),
    };
    let level = match check.level {
        Level::Must => "must",
        Level::Should => "should",
        Level::Leak => "leak",
    };
    let aside = match &check.verdict {
        Verdict::Held { note: Some(note) } => format!(" ({note})"),
        Verdict::NotApplicable { why } => format!(" ({why})"),
        _ => String::new(),
    };
    let text = printable(format!("{:<30} {level:<6} {}{aside}", check.id, check.title).as_bytes(), 400);
    row(&paint.ink(ink, sign), &text.replace('\n', " "), width)
}

/// A sign and a text, whose further lines stand under its first.
fn row(sign: &str, text: &str, width: usize) -> String {
    let lines = wrap_words(text, width.saturating_sub(4));
    let mut out = String::new();
    for (place, line) in lines.iter().enumerate() {
        let sign = if place == 0 { sign } else { " " };
        out.push_str(&format!("  {sign} {line}\n"));
    }
    out
}

fn proof(check: &CheckReport, width: usize, detail: Detail, paint: &TextPaint) -> String {
    let mut out = String::new();
    let rows = [
        ("why:", check.verdict.why().unwrap_or_default()),
        ("expected:", &check.expected),
        ("rule:", &check.rule),
        ("sent:", &check.sent),
        ("got:", if check.got.is_empty() { "(nothing)" } else { &check.got }),
    ];
    for (label, text) in rows.into_iter().filter(|(_, text)| !text.is_empty()) {
        let whole = printable(text.as_bytes(), text.len() + 1);
        let (text, shown) = match detail {
            Detail::Proof => (whole, usize::MAX),
            _ => (shorten(&whole), PROOF_LINES),
        };
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        for (place, line) in lines.by_ref().take(shown).flat_map(|line| wrap(line, width - 16)).enumerate() {
            let label = if place == 0 { label } else { "" };
            out.push_str(&format!("      {} {line}\n", paint.ink("2", &format!("{label:<9}"))));
        }
        if lines.next().is_some() {
            out.push_str(&format!("      {:<9} …\n", ""));
        }
    }
    out
}

/// The beginning and the end, which says how much there was.
fn shorten(text: &str) -> String {
    let count = text.chars().count();
    if count <= PROOF_HEAD + PROOF_TAIL {
        return text.to_owned();
    }
    let head: String = text.chars().take(PROOF_HEAD).collect();
    let tail: String = text.chars().skip(count - PROOF_TAIL).collect();
    format!("{head} … {tail}")
}

fn wrap(line: &str, width: usize) -> Vec<String> {
    let letters: Vec<char> = line.chars().collect();
    letters.chunks(width.max(20)).map(|chunk| chunk.iter().collect()).collect()
}

/// Breaks at spaces; a longer word is broken where the line ends.
fn wrap_words(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut letters = 0;
    for word in text.split_inclusive(' ') {
        for piece in wrap(word, width) {
            let long = piece.trim_end().chars().count();
            if letters > 0 && letters + long > width {
                lines.push(format!("{:INDENT$}", ""));
                letters = INDENT;
            }
            letters += piece.chars().count();
            if let Some(line) = lines.last_mut() {
                line.push_str(&piece);
            }
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::Detail;
    use crate::checks::verdict::{Level, Verdict};
    use crate::report::tests::{one, report};

    #[test]
    fn failures_show_their_proof_and_others_do_not() {
        let text =
            report(vec![one(Level::Must, Verdict::HELD), one(Level::Must, Verdict::broken("no answer"))])
                .table(80, false, Detail::Checks);
        assert_eq!(text.matches("json.truncated").count(), 3, "two lines and the summary: {text}");
        assert_eq!(text.matches("why:      no answer").count(), 1);
        assert!(text.contains("sent:     {\"a\"") && text.contains("got:      (nothing)"));
        assert!(text.contains("rule:     JSON-RPC 2.0 5.1"));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(!text.contains('\x1b'));
    }

    #[test]
    fn findings_of_one_cause_are_one_line_of_the_summary() {
        let checks = vec![
            one(Level::Should, Verdict::short("the id is missing")),
            one(Level::Must, Verdict::broken("no answer")),
            one(Level::Must, Verdict::broken("no answer")),
        ];
        let text = report(checks).table(80, false, Detail::Summary);
        let short: Vec<&str> = text.lines().skip_while(|line| *line != "in short").skip(1).take(2).collect();
        assert_eq!(
            short,
            [
                "  ✗   2 × no answer (json.truncated and 1 more)",
                "  ~   1 × the id is missing (json.truncated)"
            ]
        );
        assert!(!text.contains("expected:"), "{text}");
    }

    #[test]
    fn a_long_note_is_wrapped_and_not_cut() {
        let why = "no tool looks harmless, so none was called; name one to call with the option that does so";
        let text =
            report(vec![one(Level::Must, Verdict::not_applicable(why))]).table(60, false, Detail::Checks);
        let all: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(all.contains(why), "{text}");
        assert!(
            text.lines().take_while(|line| !line.starts_with("score")).all(|line| line.chars().count() <= 60),
            "{text}"
        );
    }

    #[test]
    fn color_is_only_added_when_asked_for() {
        assert!(
            report(vec![one(Level::Must, Verdict::HELD)])
                .table(80, true, Detail::Checks)
                .contains("\x1b[32m✓\x1b[0m")
        );
    }
}
