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

/// The stack of faults that need one: what is broken, and our own mistakes.
pub(crate) fn stack(fault: &Fault) -> Option<String> {
    let wanted = matches!(fault.kind(), Kind::Bug | Kind::Broken);
    wanted.then(|| fault.operator().stack()).flatten()
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
