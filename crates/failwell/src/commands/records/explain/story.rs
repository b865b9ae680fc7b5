//! The full story of one exchange, from its ledger record.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use failwell_audit::{GuardLine, RecordLine};
use failwell_fault::{Reason, ReasonRegistry};
use failwell_journal::{FaultReport, printable};
use serde_json::Value;

use crate::cli::Explain;
use crate::commands::json;
use crate::commands::records::audit::{self, NodeRow};
use crate::complaint::Complaint;
use crate::terminal::{self, Paint};

/// Whether a text has the form of a reference: 13 digits of Crockford's base 32.
pub(super) fn is_reference(text: &str) -> bool {
    text.len() == 13 && text.bytes().all(|byte| b"0123456789abcdefghjkmnpqrstvwxyz".contains(&byte))
}

/// Prints the record of a reference.
pub(super) fn run(
    reference: &str,
    arguments: &Explain,
    reasons: &ReasonRegistry,
) -> Result<ExitCode, Complaint> {
    let mut ledger = audit::RecordReader::open(&arguments.place)?;
    let Some(found) = ledger.find(reference)? else {
        return Err(Complaint::new(
            format!("the ledger has no record with the reference {reference}"),
            "check the reference, and that this is the ledger of the server that gave it (--data-dir DIR); \
             old records are removed",
        ));
    };
    if arguments.json {
        let record: Value =
            serde_json::from_str(&found.written(failwell_audit::Format::Jsonl)).unwrap_or_default();
        terminal::print(&json(&record)?);
    } else {
        terminal::print(&story_text(&found, reasons, Paint::for_stdout()));
    }
    Ok(ExitCode::SUCCESS)
}

/// The parts in order: caller, method, outcome, guards, private half of the fault, response, bodies, advice.
fn story_text(found: &NodeRow, reasons: &ReasonRegistry, paint: Paint) -> String {
    let line = found.row.line();
    let reason = line.reason.as_deref().and_then(|id| reasons.find(id));
    let mut text = heading(&line, found, reason, paint);
    text.push_str(&facts(&line, paint));
    text.push_str(&guards(&line.guards, paint));
    if let Some(story) = &line.story {
        text.push_str(&private(story, paint));
    }
    if let Some(public) = &line.public_fault {
        let pretty = serde_json::to_string_pretty(public).unwrap_or_default();
        text.push_str(&fenced("response to the caller", &pretty, paint));
    }
    if let Some(bodies) = &line.bodies {
        text.push_str(&fenced("request", &bodies.request, paint));
        text.push_str(&fenced("response", &bodies.answer, paint));
    }
    if let Some(reason) = reason {
        text.push_str(&advice(&line, reason, paint));
    }
    text
}

fn heading(line: &RecordLine<'_>, found: &NodeRow, reason: Option<&Reason>, paint: Paint) -> String {
    let title = reason.map_or("", |reason| reason.title);
    let name = line.reason.as_deref().unwrap_or(&line.outcome);
    let mut ids = format!("ref {} · record {} · {}", line.reference, found.row.head.seq, line.timestamp);
    if let Some(node) = &found.node {
        ids.push_str(&format!(" · node {node}"));
    }
    format!("{}  {title}\n{}\n\n", paint.bold(name), paint.faint(&ids))
}

fn facts(line: &RecordLine<'_>, paint: Paint) -> String {
    let mut text = String::new();
    let mut put = |label: &str, value: String| {
        if !value.is_empty() {
            text.push_str(&format!("{} {}\n", paint.bold(&format!("{label:<8}")), printable(&value)));
        }
    };
    put("who", who(line));
    put("what", what(line));
    let took = Duration::from_micros(line.duration_us);
    put(
        "came to",
        format!("{} after {took:?}, {} bytes in, {} bytes out", line.outcome, line.bytes_in, line.bytes_out),
    );
    if let (Some(trace), Some(span)) = (&line.trace_id, &line.span_id) {
        put("traced", format!("trace {trace} · span {span}"));
    }
    if let Some(story) = &line.story {
        put("because", story.detail.to_string());
    }
    if let Some(code) = line.code {
        let part = |name: &str, value: &Option<std::borrow::Cow<'_, str>>| {
            format!("{name} {}", value.as_deref().unwrap_or("-").replace('_', " "))
        };
        let parts = [
            format!("code {code}"),
            part("kind", &line.kind),
            part("retry", &line.retry),
            part("effect", &line.effect),
            part("origin", &line.origin),
        ];
        put("that is", parts.join(" · "));
    }
    text
}

fn who(line: &RecordLine<'_>) -> String {
    if line.event.is_some() {
        return "the ledger itself".to_owned();
    }
    let mut who =
        format!("{} over {}", line.caller.as_deref().unwrap_or("an unknown caller"), line.transport);
    match line.face.as_ref() {
        "mcp" => who.push_str(&format!(
            ", MCP {} ({} era)",
            line.revision.as_deref().unwrap_or("-"),
            line.era.as_deref().unwrap_or("-")
        )),
        face => who.push_str(&format!(", {face}")),
    }
    if !line.connection_id.is_empty() && line.connection_id != line.transport {
        who.push_str(&format!(", session {}", line.connection_id));
    }
    who
}

fn what(line: &RecordLine<'_>) -> String {
    let mut what = line.method.as_deref().unwrap_or("something that could not be read").to_owned();
    if let Some(target) = &line.target {
        what.push_str(&format!(" {target}"));
    }
    what.push_str(&format!(", asked of {}", line.service));
    if let Some(server) = &line.server {
        what.push_str(&format!(", behind it {server}"));
    }
    if let Some(id) = &line.request_id {
        what.push_str(&format!(", request id {id}"));
    }
    what
}

fn guards(guards: &[GuardLine<'_>], paint: Paint) -> String {
    let mut text = String::new();
    for guard in guards {
        let (after, took) = (Duration::from_micros(guard.after_us), Duration::from_micros(guard.took_us));
        let found =
            if guard.found.is_empty() { String::new() } else { format!(": {}", guard.found.join(", ")) };
        let line = format!("{} on the {}: {}{found}", guard.guard, guard.looked_at, guard.decided);
        text.push_str(&format!(
            "  +{after:<10?} {} {}\n",
            printable(&line),
            paint.faint(&format!("({took:?})"))
        ));
    }
    if text.is_empty() { text } else { format!("\n{}\n{text}", paint.bold("guards")) }
}

fn private(story: &FaultReport<'_>, paint: Paint) -> String {
    let mut text = String::new();
    for (label, output) in &story.captured {
        text.push_str(&fenced(&format!("in its own words: {label}"), output, paint));
    }
    if !story.causes.is_empty() {
        text.push_str(&fenced("causes, outermost first", &story.causes.join("\n"), paint));
    }
    text.push_str(&notes(&story.notes, paint));
    if !story.places.is_empty() {
        text.push_str(&fenced("where", &story.places.join("\n"), paint));
    }
    if let Some(stack) = &story.stack_trace {
        text.push_str(&fenced("stack", stack, paint));
    }
    text
}

fn notes(notes: &BTreeMap<String, String>, paint: Paint) -> String {
    notes.iter().map(|(name, note)| fenced(&format!("note: {name}"), note, paint)).collect()
}

/// Prefixes every line of foreign text with a bar, so that it cannot pass for our own.
fn fenced(label: &str, text: &str, paint: Paint) -> String {
    if text.is_empty() {
        return String::new();
    }
    let mut block = format!("\n{}\n", paint.bold(label));
    for line in text.trim_end().lines() {
        block.push_str(&format!("  {} {}\n", paint.faint("|"), printable(line)));
    }
    block
}

fn advice(line: &RecordLine<'_>, reason: &Reason, paint: Paint) -> String {
    let hint = line.public_fault.as_ref().and_then(|public| public.get("hint")).and_then(Value::as_str);
    let hint = hint.unwrap_or(reason.kind.advice());
    format!(
        "\n{} {}\n      {}\n      failwell explain {} shows its codes in every dialect\n",
        paint.bold("help:"),
        printable(hint),
        printable(reason.about),
        reason.id
    )
}
