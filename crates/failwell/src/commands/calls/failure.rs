//! Failures of servers and tools, in the words of an operator at the terminal.

use std::sync::LazyLock;

use failwell_fault::Fault;
use failwell_journal::printable;
use failwell_policy::{GuardSettings, Guards};
use serde_json::Value;

use crate::complaint::Complaint;

/// Removes secrets from foreign text.
static GUARDS: LazyLock<Option<Guards>> = LazyLock::new(|| Guards::compile(GuardSettings::default()).ok());

/// Maximum length of a line that a server wrote, in characters.
const LONGEST_LINE: usize = 300;

/// Why a server cannot be used: its exit code and its last words, or what the connection failed with.
pub(in crate::commands) fn server_failure(fault: &Fault) -> String {
    let whole = fault.operator().to_string();
    let exit = ended_with(&whole, "exit_code").map(|code| format!("exit {code}"));
    let exit = exit.or_else(|| ended_with(&whole, "signal").map(|signal| format!("ended by {signal}")));
    let last = last_line(fault);
    match (exit, last) {
        (Some(exit), Some(last)) => format!("{exit}: {last}"),
        (Some(exit), None) => format!("{exit}, without a word on standard error"),
        (None, Some(last)) => format!("{}: {last}", fault.detail()),
        (None, None) => {
            let status = ended_with(&whole, "status").map(|status| format!("HTTP status {status}"));
            let cause = status.or_else(|| fault.operator().causes().pop());
            match cause {
                Some(cause) => format!("{}: {}", fault.detail(), clean(&cause)),
                None => fault.detail(),
            }
        }
    }
}

/// The error for a tool that was not called, or whose call was refused.
pub(super) fn complaint(fault: &Fault, help: &str) -> Complaint {
    if let Some(error) = upstream_error(fault) {
        return refusal(&error, fault);
    }
    let is_server = fault.reason().id.starts_with("gateway/UPSTREAM");
    let title = if is_server { server_failure(fault) } else { fault.detail() };
    let status = ended_with(&fault.operator().to_string(), "status");
    let help = match status.as_deref() {
        Some("401") => "send a key: set FAILWELL_KEY, or --header 'Authorization: Bearer …'".to_owned(),
        Some("404") => "check the path of the address: it often ends in /mcp".to_owned(),
        _ if is_server => help.to_owned(),
        _ => fault.hint(),
    };
    Complaint::new(title, help)
}

/// The error that the server answered with. A server of Failwell adds a hint and a reference.
fn refusal(error: &Value, fault: &Fault) -> Complaint {
    let text = |place: &str| error.pointer(place).and_then(Value::as_str).map(clean);
    let message = text("/message").unwrap_or_else(|| fault.detail());
    let known = [text("/data/reason"), text("/data/ref").map(|reference| format!("ref {reference}"))];
    let known: Vec<String> = known.into_iter().flatten().collect();
    let title = if known.is_empty() { message } else { format!("{message} [{}]", known.join(" · ")) };
    let help = text("/data/hint").unwrap_or_else(|| "check the arguments with `failwell tools`".to_owned());
    Complaint::new(title, help)
}

fn upstream_error(fault: &Fault) -> Option<Value> {
    let captured = fault.operator().captured();
    let error = captured.iter().find(|captured| captured.label == "upstream error")?;
    serde_json::from_slice(&error.bytes).ok()
}

/// The value of a fact. Those of a fault that another one replaced are in its notes.
fn ended_with(whole: &str, fact: &str) -> Option<String> {
    let start = format!("{fact} = ");
    whole.lines().find_map(|line| line.trim().strip_prefix(&start).map(str::to_owned))
}

/// The last line that the server wrote on standard error.
fn last_line(fault: &Fault) -> Option<String> {
    let captured = fault.operator().captured();
    let stderr = captured.iter().find(|captured| captured.label == "stderr")?;
    let text = String::from_utf8_lossy(&stderr.bytes).into_owned();
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    Some(clean(last))
}

/// Foreign text for the terminal: one line, without control characters and secrets.
fn clean(text: &str) -> String {
    let short: String = text.chars().take(LONGEST_LINE).map(|c| if c == '\n' { ' ' } else { c }).collect();
    match &*GUARDS {
        Some(guards) => printable(&guards.scrub(&short)),
        None => printable(&short),
    }
}

#[cfg(test)]
mod tests {
    use super::{complaint, server_failure};
    use failwell_fault::{Fault, reason};

    #[test]
    fn a_server_that_ended_is_told_with_its_last_words() {
        let crashed = |stderr: &str| {
            let fault = Fault::new(&reason::GATEWAY_UPSTREAM_CRASHED).fact("exit_code", 1_i64);
            let fault = fault.capture("stderr", stderr);
            Fault::new(&reason::GATEWAY_UPSTREAM_DOWN).absorbing(fault)
        };
        let last = "Traceback\n  x\nBRAVE_API_KEY is \u{1b}[31mrequired\n\n";
        assert_eq!(server_failure(&crashed(last)), "exit 1: BRAVE_API_KEY is \\u{1b}[31mrequired");
        assert_eq!(server_failure(&crashed("")), "exit 1, without a word on standard error");
        let leak = concat!("bad key ghp_", "16C7e42F292c6912E7710c838347Ae178B4a");
        assert!(server_failure(&crashed(leak)).contains("[redacted"));
    }

    #[test]
    fn an_error_of_the_server_is_told_with_hint_and_reference() {
        let error = r#"{"code":-32602,"message":"Tool not found: ehco","data":{"reason":"mcp/UNKNOWN_TOOL","hint":"call another","ref":"3dz1"}}"#;
        let fault = Fault::new(&reason::GATEWAY_UPSTREAM_ERROR).capture("upstream error", error);
        let shown = complaint(&fault, "look");
        assert_eq!(shown.title, "Tool not found: ehco [mcp/UNKNOWN_TOOL · ref 3dz1]");
        assert_eq!(shown.help, "call another");
    }
}
