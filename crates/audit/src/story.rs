//! What only the operator may know about a failure.

use std::borrow::Cow;
use std::collections::BTreeMap;

use failwell_fault::{Fault, Kind};
use serde::{Deserialize, Serialize};

use crate::redact::Redact;

/// The most bytes of one text.
const MOST_TEXT: usize = 16 * 1024;
/// The most causes, notes and places.
const MOST: usize = 64;

/// The private half of a fault in words, secrets taken out.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Story<'a> {
    /// What went wrong, with the values in it.
    pub detail: Cow<'a, str>,
    /// What led to it, outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// Notes taken along the way.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
    /// What a child or an upstream said, by what it is.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub heard: BTreeMap<String, String>,
    /// Where in this program it was made and classified.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
    /// The stack, for what is broken or our own mistake.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_trace: Option<String>,
}

impl Story<'_> {
    pub(crate) fn of(fault: &Fault, redact: &Redact) -> Story<'static> {
        let operator = fault.operator();
        let text = |text: &str| redact.text(text, MOST_TEXT);
        let (mut notes, mut heard) = (BTreeMap::new(), BTreeMap::new());
        for (name, note) in operator.notes().iter().take(MOST) {
            add(&mut notes, name, text(note));
        }
        for captured in operator.captured().iter().take(MOST) {
            add(&mut heard, captured.label, redact.bytes(&captured.bytes, MOST_TEXT));
        }
        Story {
            detail: text(&fault.detail()).into(),
            causes: operator.causes().iter().take(MOST).map(|cause| text(cause)).collect(),
            notes,
            heard,
            places: operator.locations().into_iter().take(MOST).collect(),
            stack_trace: stack(fault).map(|stack| text(&stack)),
        }
    }
}

/// The stack of faults that need one: what is broken, and our own mistakes. Of its frames those of this program;
/// what a runtime or a library does in between says nothing.
pub(crate) fn stack(fault: &Fault) -> Option<String> {
    let wanted = matches!(fault.kind(), Kind::Bug | Kind::Broken);
    wanted.then(|| fault.operator().stack()).flatten().map(|stack| ours(&stack))
}

/// Frames that are kept where none can be told to be ours.
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

/// Two texts of one name stand below each other.
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
