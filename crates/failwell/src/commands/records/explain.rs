//! `failwell explain`: prints catalogue entries and recorded failures.

mod entry;
mod lookup;
mod story;

use std::process::ExitCode;

use failwell_fault::Reason;

use crate::cli::Explain;
use crate::commands::json;
use crate::complaint::Complaint;
use crate::terminal::{self, Paint};
use entry::{DialectCode, Entry};
use lookup::ExplainSubject;

pub(in crate::commands) fn run(arguments: &Explain) -> Result<ExitCode, Complaint> {
    let reasons =
        failwell_catalogue::registry().map_err(|error| Complaint::new(error.to_string(), "report this"))?;
    let found = match &arguments.subject {
        Some(subject) => match lookup::find(subject, &reasons) {
            Err(_) if story::is_reference(subject) => return story::run(subject, arguments, &reasons),
            found => found?,
        },
        None => ExplainSubject::Several(reasons.iter().collect()),
    };
    let text = if arguments.json { as_json(&found)? } else { as_text(&found, Paint::for_stdout()) };
    terminal::print(&text);
    Ok(ExitCode::SUCCESS)
}

/// One reason is an object, several are an array. For a number, each entry lists the dialects that use it.
fn as_json(found: &ExplainSubject) -> Result<String, Complaint> {
    match found {
        ExplainSubject::One(reason) => json(&Entry::of(reason)),
        ExplainSubject::Several(reasons) => {
            json(&reasons.iter().map(|reason| Entry::of(reason)).collect::<Vec<_>>())
        }
        ExplainSubject::Number(_, uses) => {
            json(&uses.iter().map(|(reason, places)| Entry::found_on(reason, places)).collect::<Vec<_>>())
        }
    }
}

fn as_text(found: &ExplainSubject, paint: Paint) -> String {
    match found {
        ExplainSubject::One(reason) => one(reason, paint),
        ExplainSubject::Several(reasons) => list(reasons, paint),
        ExplainSubject::Number(number, uses) => uses_of(*number, uses, paint),
    }
}

fn one(reason: &Reason, paint: Paint) -> String {
    let entry = Entry::of(reason);
    let mut text = format!("{}  {}\n\n", paint.bold(entry.reason), entry.title);
    text.push_str(&format!("  {}\n\n", entry.about));
    text.push_str(&format!("  {} {}\n", paint.bold("help:"), in_words(entry.hint)));
    text.push_str(&format!("  {} {} ({})\n", paint.faint("kind  "), entry.kind, entry.advice));
    text.push_str(&format!("  {} {}\n", paint.faint("retry "), entry.retry));
    text.push_str(&format!("  {} {}\n\n", paint.faint("origin"), entry.origin));
    for DialectCode { face, code, http_status } in entry.places() {
        text.push_str(&format!("  {face:<12} {code:>7}  HTTP {http_status}\n"));
    }
    if entry.shown_to_the_model {
        text.push_str("  on MCP, from a tool call: a result with isError, so that the model sees it\n");
    }
    if entry.silent_on_mcp {
        text.push_str("  on MCP: silence\n");
    }
    text
}

/// Shows a placeholder as `<name>`, as usage lines do. Only a real failure has the value.
fn in_words(template: &str) -> String {
    template.replace('{', "<").replace('}', ">")
}

fn list(reasons: &[&'static Reason], paint: Paint) -> String {
    let widest = reasons.iter().map(|reason| reason.id.len()).max().unwrap_or(0);
    let (mut text, mut area) = (String::new(), "");
    for reason in reasons {
        if reason.area() != area {
            let gap = if area.is_empty() { "" } else { "\n" };
            area = reason.area();
            text.push_str(&format!("{gap}{}\n", paint.bold(area)));
        }
        text.push_str(&format!("  {:<widest$}  {}\n", reason.id, reason.title));
    }
    text
}

fn uses_of(number: i64, uses: &[(&'static Reason, Vec<DialectCode>)], paint: Paint) -> String {
    let widest = uses.iter().map(|(reason, _)| reason.id.len()).max().unwrap_or(0);
    let mut text = format!("{} is used by {} reasons\n\n", paint.bold(&number.to_string()), uses.len());
    if uses.len() == 1 {
        text = format!("{} is used by one reason\n\n", paint.bold(&number.to_string()));
    }
    for (reason, places) in uses {
        let dialects: Vec<&str> = places.iter().map(|place| place.face).collect();
        let dialects = paint.faint(&format!("on {}", dialects.join(", ")));
        text.push_str(&format!("  {:<widest$}  {}  {dialects}\n", reason.id, reason.title));
    }
    text.push_str("\nThe reason in the answer says which one it was: failwell explain <reason>\n");
    text
}
