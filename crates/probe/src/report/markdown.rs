//! One line of a table in a document.

use super::Report;
use crate::target::Transport;

impl Report {
    /// The heading that `markdown_row` fits under.
    pub fn markdown_head() -> &'static str {
        "| server | version | transport | held | score | worst finding |\n|---|---|---|---|---|---|"
    }

    /// Server, version, transport, checks held of those that count, score and worst finding.
    pub fn markdown_row(&self) -> String {
        let transport = match self.transport {
            Transport::Stdio => "stdio",
            Transport::Http => "http",
        };
        let worst = self.worst().map_or_else(
            || "none".to_owned(),
            |check| format!("`{}`: {}", check.id, check.verdict.why().unwrap_or_default()),
        );
        format!(
            "| {} | {} | {transport} | {}/{} | {} | {} |",
            cell(self.server_name.as_deref().unwrap_or(&self.target)),
            cell(self.server_version.as_deref().unwrap_or("?")),
            self.tally.held,
            self.tally.counted(),
            self.score,
            cell(&worst),
        )
    }
}

fn cell(text: &str) -> String {
    let line: String =
        text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(200).collect();
    line.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use crate::checks::verdict::{Level, Verdict};
    use crate::report::tests::{one, report};

    #[test]
    fn a_row_says_it_all() {
        let found =
            report(vec![one(Level::Must, Verdict::HELD), one(Level::Should, Verdict::broken("a|b\nc"))]);
        assert_eq!(found.markdown_row(), "| example | 1.2 | stdio | 1/2 | 75 | `json.truncated`: a\\|b c |");
    }
}
