use failwell_fault::{Condition, Reason, Retry};
use failwell_render::codes::{Answer, row, shown_to_the_model};
use serde::Serialize;

/// One catalogue entry as JSON.
#[derive(Serialize)]
pub(super) struct Entry {
    pub(super) reason: &'static str,
    pub(super) kind: &'static str,
    pub(super) advice: &'static str,
    pub(super) title: &'static str,
    pub(super) detail: &'static str,
    pub(super) hint: &'static str,
    pub(super) about: &'static str,
    pub(super) retry: &'static str,
    pub(super) origin: &'static str,
    pub(super) codes: Vec<DialectCode>,
    pub(super) shown_to_the_model: bool,
    pub(super) silent_on_mcp: bool,
    pub(super) doc: String,
    /// The dialects in which the requested number occurs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) found_on: Vec<&'static str>,
}

/// A dialect with its code and HTTP status.
#[derive(Serialize, Clone)]
pub(super) struct DialectCode {
    pub(super) face: &'static str,
    pub(super) code: i32,
    pub(super) http_status: u16,
}

impl Entry {
    pub(super) fn of(reason: &Reason) -> Entry {
        Entry {
            reason: reason.id,
            kind: reason.kind.as_str(),
            advice: reason.kind.advice(),
            title: reason.title,
            detail: if reason.detail.is_empty() { reason.title } else { reason.detail },
            hint: reason.hint,
            about: reason.about,
            retry: retry(reason.kind.retry()),
            origin: reason.origin.as_str(),
            codes: places(reason),
            shown_to_the_model: shown_to_the_model(reason),
            silent_on_mcp: is_silent_on_mcp(reason),
            doc: format!("docs/errors.md#{}", reason.anchor()),
            found_on: Vec::new(),
        }
    }

    pub(super) fn found_on(reason: &Reason, places: &[DialectCode]) -> Entry {
        Entry { found_on: places.iter().map(|place| place.face).collect(), ..Entry::of(reason) }
    }

    pub(super) fn places(&self) -> &[DialectCode] {
        &self.codes
    }
}

/// The dialects that can report this reason, each with its code and status.
pub(super) fn places(reason: &Reason) -> Vec<DialectCode> {
    let row = row(reason);
    let place = |face, Answer { code, status }| DialectCode { face, code, http_status: status };
    let mut places = vec![place("REST", row.rest), place("/rpc", Answer { status: 200, ..row.rest })];
    if !is_silent_on_mcp(reason) {
        places.extend([place("MCP session", row.session), place("MCP modern", row.modern)]);
    }
    places
}

fn is_silent_on_mcp(reason: &Reason) -> bool {
    reason.condition == Condition::Cancelled
}

fn retry(retry: Retry) -> &'static str {
    match retry {
        Retry::Never => "never",
        Retry::AfterChange => "after a change",
        Retry::After(_) => "after the time the answer gives",
        Retry::Once => "once",
    }
}
