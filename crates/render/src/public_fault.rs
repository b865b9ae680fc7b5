//! The public half of a fault: as a JSON object, and as text.

use failwell_fault::{Condition, Fact, Fault, Pointer, Ref, Retry, reason};
use failwell_rpc::{Dialect, Era, ReplyTo};

use crate::moment::Moment;
use crate::write::Writer;

/// Maximum size of a fault on the wire, in bytes: its object, its text (which escaping can double), and 4 KiB
/// for id and envelope.
pub const LARGEST_FAULT: usize = LARGEST_OBJECT + 2 * LARGEST_TEXT + 4 * 1024;

/// Maximum size of the fault object, in bytes.
const LARGEST_OBJECT: usize = 36 * 1024;

/// Maximum size of the members that the MCP specification requires, in bytes, if the object itself was too
/// large.
const LARGEST_SPECIFIC: usize = 4 * 1024;

/// Maximum number of listed violations. A count tells if there are more.
const MOST_VIOLATIONS: usize = 100;

/// The public half of a fault as a JSON object, the same in every dialect.
pub fn public_object(fault: &Fault, to: &ReplyTo, now: Moment) -> String {
    let mut out = Writer::with_capacity(768);
    write_fault(&mut out, fault, to, now);
    String::from_utf8_lossy(&out.finish()).into_owned()
}

/// Writes the fault object. It is the same in every dialect; the session era has three more members.
pub(crate) fn write_fault(out: &mut Writer, fault: &Fault, to: &ReplyTo, now: Moment) {
    let mut whole = Writer::with_capacity(768);
    whole.open(b'{');
    write_common(&mut whole, fault, to);
    write_specific(&mut whole, fault);
    if let Dialect::Mcp(revision) = to.dialect
        && revision.era() == Era::Session
    {
        write_session_extras(&mut whole, fault, to, now);
    }
    whole.close(b'}');
    if whole.len() <= LARGEST_OBJECT {
        out.raw(&String::from_utf8_lossy(&whole.finish()));
    } else {
        write_core(out, fault, to);
    }
}

/// Writes a bounded fault object: literals, and the members that the MCP specification requires if they are
/// small.
fn write_core(out: &mut Writer, fault: &Fault, to: &ReplyTo) {
    let mut specific = Writer::with_capacity(64);
    specific.open(b'{');
    write_specific(&mut specific, fault);
    specific.close(b'}');
    out.open(b'{');
    write_identity(out, fault);
    out.text_member("detail", fault.reason().title);
    out.text_member("hint", fault.kind().advice());
    write_standing(out, fault, to);
    if specific.len() <= LARGEST_SPECIFIC {
        out.members_of(&String::from_utf8_lossy(&specific.finish()));
    }
    out.close(b'}');
}

fn write_identity(out: &mut Writer, fault: &Fault) {
    let reason = fault.reason();
    out.text_member("reason", reason.id);
    out.text_member("kind", reason.kind.as_str());
    out.text_member("title", reason.title);
}

/// Writes the retry advice, effect, origin, manual link and reference.
fn write_standing(out: &mut Writer, fault: &Fault, to: &ReplyTo) {
    write_retry(out, fault.retry());
    out.text_member("effect", fault.effect().as_str());
    out.text_member("origin", fault.origin().as_str());
    out.text_member("doc", &format!("docs/errors.md#{}", fault.reason().anchor()));
    out.text_member("ref", &to.reference.to_string());
}

fn write_common(out: &mut Writer, fault: &Fault, to: &ReplyTo) {
    write_identity(out, fault);
    out.text_member("detail", &fault.detail());
    out.text_member("hint", &fault.hint());
    if !fault.facts().is_empty() {
        out.key("facts");
        out.open(b'{');
        for (name, fact) in fault.facts() {
            out.key(name);
            write_fact(out, fact);
        }
        out.close(b'}');
    }
    write_violations(out, fault);
    if let Some(excerpt) = fault.excerpt() {
        out.text_member("excerpt", &excerpt.fenced());
    }
    write_standing(out, fault, to);
}

fn write_retry(out: &mut Writer, retry: Retry) {
    match retry {
        Retry::Never => out.text_member("retry", "never"),
        Retry::AfterChange => out.text_member("retry", "after_change"),
        Retry::Once => out.text_member("retry", "once"),
        Retry::After(wait) => {
            out.text_member("retry", "after_ms");
            out.number_member("retry_after_ms", wait.as_millis());
        }
    }
}

fn write_violations(out: &mut Writer, fault: &Fault) {
    let violations = fault.violations();
    if violations.is_empty() {
        return;
    }
    out.key("violations");
    out.open(b'[');
    for violation in violations.iter().take(MOST_VIOLATIONS) {
        out.item();
        out.open(b'{');
        out.text_member("pointer", &violation.pointer.to_string());
        out.text_member("rule", violation.rule.as_str());
        if let Some(limit) = &violation.limit {
            out.key("limit");
            write_fact(out, limit);
        }
        out.text_member("message", &violation.message());
        out.close(b'}');
    }
    out.close(b']');
    if violations.len() > MOST_VIOLATIONS {
        out.number_member("violations_total", violations.len());
    }
    write_validation_errors(out, fault);
}

/// Writes the violations again as `errors[{loc, msg, type}]`, as the REST record requires (S4 in
/// docs/sources.md).
fn write_validation_errors(out: &mut Writer, fault: &Fault) {
    out.key("errors");
    out.open(b'[');
    for violation in fault.violations().iter().take(MOST_VIOLATIONS) {
        out.item();
        out.open(b'{');
        out.key("loc");
        out.open(b'[');
        out.item();
        out.text(if *fault.reason() == reason::HTTP_QUERY { "query" } else { "body" });
        for segment in violation.pointer.segments() {
            out.item();
            out.text(segment);
        }
        out.close(b']');
        out.text_member("msg", &violation.message());
        out.text_member("type", violation.rule.error_type());
        out.close(b'}');
    }
    out.close(b']');
}

/// Writes the members of `error.data` that the MCP specification requires.
fn write_specific(out: &mut Writer, fault: &Fault) {
    let named: &[&'static str] = match fault.reason().condition {
        Condition::ResourceNotFound => &["uri"],
        Condition::UnsupportedVersion => &["supported", "requested"],
        Condition::MissingCapability => {
            out.key("requiredCapabilities");
            write_capabilities(out, fault.get("required"));
            &[]
        }
        _ => &[],
    };
    for name in named {
        if let Some(fact) = fault.get(name) {
            out.key(name);
            write_fact(out, fact);
        }
    }
}

/// `sampling` becomes `{"sampling":{}}`. The name of an extension goes under `extensions`.
fn write_capabilities(out: &mut Writer, required: Option<&Fact>) {
    let words: &[&'static str] = match required {
        Some(Fact::Words(words)) => words,
        Some(Fact::Word(word)) => std::slice::from_ref(word),
        _ => &[],
    };
    // A repeated capability is written once.
    let mut once: Vec<&str> = Vec::new();
    for word in words {
        if !once.contains(word) {
            once.push(word);
        }
    }
    let (extensions, plain): (Vec<&str>, Vec<&str>) = once.into_iter().partition(|word| word.contains('/'));
    out.open(b'{');
    for word in plain {
        out.raw_member(word, "{}");
    }
    if !extensions.is_empty() {
        out.key("extensions");
        out.open(b'{');
        for word in extensions {
            out.raw_member(word, "{}");
        }
        out.close(b'}');
    }
    out.close(b'}');
}

/// Writes the members that the proxy's record requires in the session era (S1 in docs/sources.md). The modern
/// era has none, so that identical failures give identical bytes.
fn write_session_extras(out: &mut Writer, fault: &Fault, to: &ReplyTo, now: Moment) {
    out.text_member("details", &fault.detail());
    out.raw_member("request_id", to.id.as_ref().map_or("null", |id| id.text()));
    out.text_member("timestamp", &now.to_string());
}

fn write_fact(out: &mut Writer, fact: &Fact) {
    match fact {
        Fact::Unsigned(value) => out.number(value),
        Fact::Signed(value) => out.number(value),
        Fact::Number(value) if value.is_finite() => out.number(value),
        Fact::Number(value) => out.text(&value.to_string()),
        Fact::Flag(value) => out.number(value),
        Fact::Word(value) => out.text(value),
        Fact::Name(value) => out.text(value.as_str()),
        Fact::Echo(value) => out.text(value.as_str()),
        Fact::Words(values) => write_list(out, values.iter().copied()),
        Fact::Names(values) => write_list(out, values.iter().map(|name| name.as_str())),
    }
}

fn write_list<'a>(out: &mut Writer, texts: impl Iterator<Item = &'a str>) {
    out.open(b'[');
    for text in texts {
        out.item();
        out.text(text);
    }
    out.close(b']');
}

/// Maximum number of violations in the text for the model. The object has more.
const MOST_LINES: usize = 12;

/// Maximum size of a fault's text, in bytes. A longer text is replaced by literals.
const LARGEST_TEXT: usize = 12 * 1024;

/// The message of a JSON-RPC error: the detail of the fault.
pub(crate) fn sentence(fault: &Fault) -> String {
    let detail = fault.detail();
    if detail.len() <= LARGEST_TEXT { detail } else { fault.reason().title.to_owned() }
}

/// The text for the model: the detail, `help:` with the hint, and a line to quote.
pub fn for_the_model(fault: &Fault, reference: Ref) -> String {
    let text = format!("{}\nhelp: {}\n", what_is_wrong(fault), fault.hint());
    let (retry, effect) = (retry_words(fault.retry()), fault.effect().as_str());
    let quote = format!("[{} · retry {retry} · effect {effect} · ref {reference}]", fault.reason().id);
    if text.len() + quote.len() <= LARGEST_TEXT {
        return text + &quote;
    }
    format!("{}\nhelp: {}\n{quote}", fault.reason().title, fault.kind().advice())
}

fn what_is_wrong(fault: &Fault) -> String {
    let reason = fault.reason();
    let mut text = if fault.violations().is_empty() { fault.detail() } else { reason.title.to_owned() };
    for violation in fault.violations().iter().take(MOST_LINES) {
        text.push_str(&format!("\n  {}: {}", place(&violation.pointer), violation.message()));
    }
    let unlisted = fault.violations().len().saturating_sub(MOST_LINES);
    if unlisted > 0 {
        text.push_str(&format!("\n  … and {unlisted} more"));
    }
    text
}

/// The JSON Pointer. The empty pointer of the root would look like a mistake, so it gets a name.
fn place(pointer: &Pointer) -> String {
    if pointer.segments().next().is_none() { "the whole value".to_owned() } else { pointer.to_string() }
}

fn retry_words(retry: Retry) -> String {
    match retry {
        Retry::Never => "never".to_owned(),
        Retry::AfterChange => "after a change".to_owned(),
        Retry::After(wait) => format!("after {} ms", wait.as_millis()),
        Retry::Once => "once".to_owned(),
    }
}
