//! `failwell explain`: the catalogue at the terminal.

mod entry;
mod lookup;
mod story;

use std::process::ExitCode;

use failwell_fault::{Reason, reason};

use super::json;
use crate::cli::Explain;
use crate::complaint::Complaint;
use crate::terminal::{self, Paint};
use entry::{Entry, Place};
use lookup::Found;

/// Prints what was asked for.
pub(super) fn run(arguments: &Explain) -> Result<ExitCode, Complaint> {
    let found = match &arguments.subject {
        Some(subject) => match lookup::find(subject) {
            Err(_) if story::is_reference(subject) => return story::run(subject, arguments),
            found => found?,
        },
        None => Found::Several(reason::all().collect()),
    };
    let text = if arguments.json { as_json(&found)? } else { as_text(&found, Paint::for_stdout()) };
    terminal::print(&text);
    Ok(ExitCode::SUCCESS)
}

/// One reason is an object; several are an array; a number is an array that says where it stands.
fn as_json(found: &Found) -> Result<String, Complaint> {
    match found {
        Found::One(reason) => json(&Entry::of(reason)),
        Found::Several(reasons) => json(&reasons.iter().map(|reason| Entry::of(reason)).collect::<Vec<_>>()),
        Found::Number(_, uses) => {
            json(&uses.iter().map(|(reason, places)| Entry::found_on(reason, places)).collect::<Vec<_>>())
        }
    }
}

fn as_text(found: &Found, paint: Paint) -> String {
    match found {
        Found::One(reason) => one(reason, paint),
        Found::Several(reasons) => list(reasons, paint),
        Found::Number(number, uses) => uses_of(*number, uses, paint),
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
    for Place { face, code, http_status } in entry.places() {
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

/// Values that only an answer can fill in are shown as `<name>`, the way usage lines do.
fn in_words(template: &str) -> String {
    template.replace('{', "<").replace('}', ">")
}

fn list(reasons: &[&'static Reason], paint: Paint) -> String {
    let widest = reasons.iter().map(|reason| reason.id.len()).max().unwrap_or(0);
    let (mut text, mut room) = (String::new(), "");
    for reason in reasons {
        if reason.room() != room {
            let gap = if room.is_empty() { "" } else { "\n" };
            room = reason.room();
            text.push_str(&format!("{gap}{}\n", paint.bold(room)));
        }
        text.push_str(&format!("  {:<widest$}  {}\n", reason.id, reason.title));
    }
    text
}

fn uses_of(number: i64, uses: &[(&'static Reason, Vec<Place>)], paint: Paint) -> String {
    let widest = uses.iter().map(|(reason, _)| reason.id.len()).max().unwrap_or(0);
    let mut text = format!("{} is used by {} reasons\n\n", paint.bold(&number.to_string()), uses.len());
    if uses.len() == 1 {
        text = format!("{} is used by one reason\n\n", paint.bold(&number.to_string()));
    }
    for (reason, places) in uses {
        let faces: Vec<&str> = places.iter().map(|place| place.face).collect();
        let faces = paint.faint(&format!("on {}", faces.join(", ")));
        text.push_str(&format!("  {:<widest$}  {}  {faces}\n", reason.id, reason.title));
    }
    text.push_str("\nThe reason in the answer says which one it was: failwell explain <reason>\n");
    text
}
