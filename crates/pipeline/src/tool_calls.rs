//! Counters of tool calls, by server, tool and outcome.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use failwell_toolbox::MetricsText;
use parking_lot::RwLock;

use crate::record::ExchangeOutcome;

/// The maximum number of tools with counters of their own.
const MOST_TOOLS: usize = 1_000;
/// The label of all further tools. One shared label keeps the number of labels bounded.
const OTHER: &str = "other";

/// The outcomes, as the ledger calls them.
const OUTCOMES: [&str; 3] = ["ok", "tool_failed", "fault"];

type Counts = [AtomicU64; OUTCOMES.len()];

/// Tools are names that servers list, not names that callers send.
#[derive(Debug, Default)]
pub(crate) struct ToolCalls(RwLock<BTreeMap<String, BTreeMap<String, Arc<Counts>>>>);

impl ToolCalls {
    pub(crate) fn count(&self, server: &str, tool: &str, ended_as: &ExchangeOutcome) {
        let outcome = match ended_as {
            ExchangeOutcome::Succeeded => 0,
            ExchangeOutcome::ToolFailed(_) | ExchangeOutcome::ToolFault(_) => 1,
            ExchangeOutcome::Fault(_) => 2,
        };
        let known = self.0.read().get(server).and_then(|tools| tools.get(tool)).cloned();
        let counts = known.unwrap_or_else(|| self.add(server, tool));
        if let Some(count) = counts.get(outcome) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn add(&self, server: &str, tool: &str) -> Arc<Counts> {
        let mut all = self.0.write();
        let is_full = all.values().map(BTreeMap::len).sum::<usize>() >= MOST_TOOLS;
        let (server, tool) = if is_full { (OTHER, OTHER) } else { (server, tool) };
        all.entry(server.to_owned()).or_default().entry(tool.to_owned()).or_default().clone()
    }

    /// Writes the calls of the tools that `is_shown`, by server and tool, accepts.
    pub(crate) fn write(&self, out: &mut MetricsText, is_shown: impl Fn(&str, &str) -> bool) {
        const NAME: &str = "failwell_tool_calls_total";
        out.family(NAME, "counter", "Tool calls, by server, tool and outcome.");
        for (server, tools) in &*self.0.read() {
            let is_shared = |tool: &str| server == OTHER && tool == OTHER;
            for (tool, counts) in tools.iter().filter(|(tool, _)| is_shared(tool) || is_shown(server, tool)) {
                let (server, tool) = (label(server), label(tool));
                for (outcome, count) in OUTCOMES.iter().zip(&**counts) {
                    let labels = [("server", server.as_str()), ("tool", tool.as_str()), ("outcome", outcome)];
                    out.put(NAME, &labels, count.load(Ordering::Relaxed));
                }
            }
        }
    }
}

/// A label value. Servers name their tools, so the text is foreign.
fn label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use failwell_fault::{Fault, reason};
    use failwell_toolbox::MetricsText;

    use super::{MOST_TOOLS, ToolCalls};
    use crate::record::ExchangeOutcome;

    fn written(calls: &ToolCalls, hidden: &str) -> String {
        let mut out = MetricsText::default();
        calls.write(&mut out, |_, tool| tool != hidden);
        out.into_text()
    }

    #[test]
    fn calls_are_counted_by_server_tool_and_outcome() {
        let calls = ToolCalls::default();
        let fault = Arc::new(Fault::new(&reason::SERVER_TIMEOUT));
        calls.count("shop", "bu\"y", &ExchangeOutcome::Succeeded);
        calls.count("shop", "bu\"y", &ExchangeOutcome::Fault(fault.clone()));
        calls.count("shop", "sell", &ExchangeOutcome::ToolFault(fault));
        let text = written(&calls, "");
        for line in [
            r#"failwell_tool_calls_total{server="shop",tool="bu\"y",outcome="ok"} 1"#,
            r#"failwell_tool_calls_total{server="shop",tool="bu\"y",outcome="fault"} 1"#,
            r#"failwell_tool_calls_total{server="shop",tool="sell",outcome="tool_failed"} 1"#,
            r#"failwell_tool_calls_total{server="shop",tool="sell",outcome="ok"} 0"#,
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in {text}");
        }
        assert!(!written(&calls, "sell").contains("sell"), "hidden tools are left out");
    }

    #[test]
    fn the_number_of_labels_is_bounded() {
        let calls = ToolCalls::default();
        (0..MOST_TOOLS + 50)
            .for_each(|tool| calls.count("shop", &tool.to_string(), &ExchangeOutcome::Succeeded));
        let text = written(&calls, "");
        assert_eq!(text.lines().filter(|line| line.contains("outcome=\"ok\"")).count(), MOST_TOOLS + 1);
        assert!(
            text.contains(r#"{server="other",tool="other",outcome="ok"} 50"#),
            "further tools share one label"
        );
    }
}
