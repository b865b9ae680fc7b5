//! The private half of a fault, for the operator only.

use std::borrow::Cow;
use std::collections::BTreeMap;

use failwell_fault::{Fault, Kind};
use serde::{Deserialize, Serialize};

use crate::redact::TextRedactor;

/// Maximum bytes of one text.
const MOST_TEXT: usize = 16 * 1024;
/// Maximum number of causes, notes and places.
const MOST: usize = 64;

/// The private half of a fault as text, with secrets redacted.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FaultReport<'a> {
    /// The description of the failure, with its values.
    pub detail: Cow<'a, str>,
    /// The cause chain, outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// Context that was added along the way.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
    /// Output of a child or an upstream, by name.
    #[serde(rename = "heard", skip_serializing_if = "BTreeMap::is_empty")]
    pub captured: BTreeMap<String, String>,
    /// The source locations where the fault was created and classified.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
    /// The stack, for the kinds `Bug` and `Broken` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_trace: Option<String>,
}

impl FaultReport<'_> {
    pub fn new(fault: &Fault, redact: &TextRedactor) -> FaultReport<'static> {
        let operator = fault.operator();
        let text = |text: &str| redact.text(text, MOST_TEXT);
        let (mut notes, mut captured) = (BTreeMap::new(), BTreeMap::new());
        for (name, note) in operator.notes().iter().take(MOST) {
            add(&mut notes, name, text(note));
        }
        for output in operator.captured().iter().take(MOST) {
            add(&mut captured, output.label, redact.bytes(&output.bytes, MOST_TEXT));
        }
        FaultReport {
            detail: text(&fault.detail()).into(),
            causes: operator.causes().iter().take(MOST).map(|cause| text(cause)).collect(),
            notes,
            captured,
            places: operator.locations().into_iter().take(MOST).collect(),
            stack_trace: stack(fault).map(|stack| text(&stack)),
        }
    }
}

/// Returns the stack for the kinds `Bug` and `Broken`. Frames of runtimes and libraries are omitted, because
/// they say nothing about the cause.
pub(crate) fn stack(fault: &Fault) -> Option<String> {
    let wanted = matches!(fault.kind(), Kind::Bug | Kind::Broken);
    wanted.then(|| fault.operator().stack()).flatten().map(|stack| ours(&stack))
}

/// Number of frames shown if no frame belongs to this program.
const FIRST: usize = 20;

fn ours(stack: &str) -> String {
    let mut frames: Vec<String> = Vec::new();
    for line in stack.lines() {
        let is_place = line.trim_start().starts_with("at ");
        match frames.last_mut() {
            Some(frame) if is_place && !frame.is_empty() => frame.push_str(&format!("\n{line}")),
            _ => frames.push(line.to_owned()),
        }
    }
    let of_ours = |frame: &&String| frame.contains("failwell") && !frame.contains("failwell_fault::");
    let kept: Vec<&str> = frames.iter().filter(of_ours).map(String::as_str).collect();
    let kept = if kept.is_empty() { frames.iter().take(FIRST).map(String::as_str).collect() } else { kept };
    kept.join("\n")
}

/// Bytes held by the private half of a fault, counting only parts that can be large.
pub fn weight(fault: &Fault) -> usize {
    let operator = fault.operator();
    let captured: usize = operator.captured().iter().map(|captured| captured.bytes.len()).sum();
    captured + operator.notes().iter().map(|(_, note)| note.len()).sum::<usize>()
}

/// Texts of the same name are joined by a line break.
fn add(texts: &mut BTreeMap<String, String>, name: &str, text: String) {
    texts
        .entry(name.to_owned())
        .and_modify(|known| {
            known.push('\n');
            known.push_str(&text);
        })
        .or_insert(text);
}

#[cfg(test)]
mod tests {
    use super::ours;

    #[test]
    fn a_stack_is_cut_to_the_frames_that_are_ours() {
        let stack = "at x.rs:1:2\n   0: failwell_fault::operator::take\n             at crates/fault/x.rs:1\n   \
                     1: failwell_gateway::said::result\n             at crates/gateway/said.rs:5\n   2: tokio::run\n   \
                     3: main";
        assert_eq!(
            ours(stack),
            "   1: failwell_gateway::said::result\n             at crates/gateway/said.rs:5"
        );
        assert_eq!(ours("  0: a\n  1: b"), "  0: a\n  1: b");
    }
}
