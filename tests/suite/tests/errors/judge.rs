//! Compares responses with the expected ones.

use failwell_rpc::Revision;
use failwell_suite::MARKER;
use serde_json::Value;

use crate::case::{Expectation, Kind};
use crate::received_message::ReceivedMessage;
use crate::world::World;

macro_rules! ensure {
    ($holds:expr, $($complaint:tt)+) => {
        if !$holds {
            return Err(format!($($complaint)+));
        }
    };
}
pub(crate) use ensure;

/// Checks the kind, code, id and reason of a response, and the further values of the case.
pub(crate) fn answer(seen: &ReceivedMessage, expect: &Expectation, revision: Revision) -> Result<(), String> {
    ensure!(kind_of(seen) == expect.kind, "expected {:?}: {}", expect.kind, seen.text);
    let id = match &expect.id {
        Some(id) => Some(id.as_str()),
        None => revision.null_id_when_unreadable().then_some("null"),
    };
    ensure!(seen.id.as_deref() == id, "expected id {id:?}: {}", seen.text);
    if expect.kind == Kind::Error {
        let (code, _) = expect.numbers(revision);
        ensure!(seen.code() == Some(code), "expected code {code}: {}", seen.text);
    }
    fault(seen, expect)?;
    no_leak(&seen.text)
}

/// Reason, hint and the rest of the fault object.
pub(crate) fn fault(seen: &ReceivedMessage, expect: &Expectation) -> Result<(), String> {
    ensure!(seen.reason() == expect.reason, "expected reason {:?}: {}", expect.reason, seen.text);
    let Some(fault) = seen.fault() else { return Ok(()) };
    for (pointer, value) in &expect.holds {
        ensure!(fault.pointer(pointer) == Some(value), "expected {value} at {pointer}: {}", seen.text);
    }
    let hint = fault.get("hint").and_then(Value::as_str).unwrap_or("");
    for word in &expect.hint {
        ensure!(hint.contains(word), "expected {word:?} in the hint: {hint}");
    }
    for member in ["kind", "title", "detail", "hint", "retry", "effect", "origin", "doc", "ref"] {
        ensure!(fault.get(member).is_some_and(Value::is_string), "{member} is missing: {}", seen.text);
    }
    Ok(())
}

fn kind_of(seen: &ReceivedMessage) -> Kind {
    match seen.value.get("result") {
        _ if seen.value.get("error").is_some() => Kind::Error,
        Some(result) if result.get("isError") == Some(&Value::Bool(true)) => Kind::ToolError,
        Some(_) => Kind::Result,
        None => Kind::Silence,
    }
}

/// Checks that a response has no private text and no file path.
pub(crate) fn no_leak(text: &str) -> Result<(), String> {
    let private =
        [MARKER, "panicked", ".rs", "/root", "/home", "/tmp", "/usr", "/var", "/work", "src/", "backtrace"];
    match private.iter().find(|word| text.contains(**word)) {
        Some(word) => Err(format!("{word:?} came back: {text}")),
        None => Ok(()),
    }
}

/// Checks that exactly one journal line has the reference, with the same reason.
pub(crate) fn journal(world: &World, seen: &ReceivedMessage) -> Result<(), String> {
    let all = world.journal();
    let reference = seen.reference();
    let lines: Vec<&Value> = all.iter().filter(|line| line["ref"] == reference).collect();
    ensure!(!reference.is_empty(), "no ref: {}", seen.text);
    let [line] = lines.as_slice() else {
        return Err(format!("{} journal lines for {reference}", lines.len()));
    };
    ensure!(line["reason"] == seen.reason(), "the journal says {}", line["reason"]);
    if let Some(code) = seen.code() {
        ensure!(line["error_code"] == code, "the journal says {}", line["error_code"]);
    }
    let names = ["timestamp", "level", "message", "service", "error_message", "stack_trace"];
    match names.iter().find(|name| !line[**name].is_string()) {
        Some(name) => Err(format!("the journal line lacks {name}: {line}")),
        None => Ok(()),
    }
}
