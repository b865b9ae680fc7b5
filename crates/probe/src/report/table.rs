//! The report for people: one line a check, and the proof under each that did not hold.

use super::{CheckReport, Report, printable};
use crate::checks::verdict::{Level, Verdict};

/// Lines of proof shown per side; the JSON report holds more.
const PROOF_LINES: usize = 8;
const PROOF_HEAD: usize = 440;
const PROOF_TAIL: usize = 60;

struct TextPaint {
    on: bool,
}

impl TextPaint {
    fn ink(&self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

impl Report {
    /// The whole report as text at most `width` wide; `color` adds terminal escapes.
    pub fn table(&self, width: usize, color: bool) -> String {
        let paint = TextPaint { on: color };
        let width = width.max(60);
        let mut out = self.heading();
        let mut group = String::new();
        for check in &self.checks {
            let section = format!("{} · {}", check.group, check.revision.date());
            if section != group {
                out.push_str(&format!("\n{}\n", paint.ink("1", &section)));
                group = section;
            }
            out.push_str(&line(check, width, &paint));
            if matches!(check.verdict, Verdict::Broken { .. } | Verdict::Short { .. }) {
                out.push_str(&proof(check, width, &paint));
            }
        }
        out.push_str(&self.ending(&paint));
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
        format!(
            "\n{}  {} held, {} short, {} broken, {} not applicable, {} leaks, {:.1} s{unfinished}\n",
            paint.ink("1", &format!("score {}", self.score)),
            tally.held,
            tally.short,
            tally.broken,
            tally.not_applicable,
            self.leaks.len(),
            self.duration.as_secs_f64(),
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
    format!("  {} {}\n", paint.ink(ink, sign), cut(&text.replace('\n', " "), width.saturating_sub(4)))
}

fn proof(check: &CheckReport, width: usize, paint: &TextPaint) -> String {
    let mut out = String::new();
    let rows = [
        ("why:", check.verdict.why().unwrap_or_default()),
        ("expected:", &check.expected),
        ("rule:", &check.rule),
        ("sent:", &check.sent),
        ("got:", if check.got.is_empty() { "(nothing)" } else { &check.got }),
    ];
    for (label, text) in rows.into_iter().filter(|(_, text)| !text.is_empty()) {
        let text = shorten(&printable(text.as_bytes(), text.len() + 1));
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        for (place, line) in
            lines.by_ref().take(PROOF_LINES).flat_map(|line| wrap(line, width - 16)).enumerate()
        {
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

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use crate::checks::verdict::{Level, Verdict};
    use crate::report::tests::{one, report};

    #[test]
    fn failures_show_their_proof_and_others_do_not() {
        let text =
            report(vec![one(Level::Must, Verdict::HELD), one(Level::Must, Verdict::broken("no answer"))])
                .table(80, false);
        assert_eq!(text.matches("json.truncated").count(), 2);
        assert_eq!(text.matches("why:      no answer").count(), 1);
        assert!(text.contains("sent:     {\"a\"") && text.contains("got:      (nothing)"));
        assert!(text.contains("rule:     JSON-RPC 2.0 5.1"));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(!text.contains('\x1b'));
    }

    #[test]
    fn color_is_only_added_when_asked_for() {
        assert!(report(vec![one(Level::Must, Verdict::HELD)]).table(80, true).contains("\x1b[32m✓\x1b[0m"));
    }
}
