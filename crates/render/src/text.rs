use failwell_fault::{Fault, Pointer, Ref, Retry};

/// Maximum number of violations in the text for the model. The object has more.
const MOST_LINES: usize = 12;

/// Maximum size of a fault's text, in bytes. A longer text is replaced by literals.
pub(crate) const LARGEST_TEXT: usize = 12 * 1024;

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
