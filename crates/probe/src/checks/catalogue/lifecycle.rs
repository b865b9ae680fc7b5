//! The beginning and the end: before `initialize`, twice, in no known version; and closing the pipe.

use super::PARAMS;
use crate::checks::check::{Check, Expectation, ExpectedRefusal, Severity};
use crate::checks::procedure::Procedure;
use crate::checks::verdict::Verdict;
use crate::connection::exchange::{Exchange, ServerAnswer};
use crate::revision::Revision;
use crate::target::Transport;

pub(super) const CHECKS: &[Check] = &[
    Check::text("lifecycle.early-request", "a request before initialize", r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/list","params":{}}"#,
        Expectation::OneAnswer { silence: Severity::Broken }).session().fresh()
        .rule("JSON-RPC 2.0 5: serve it or refuse it, but answer; a client that forgot to initialize must not hang"),
    Check::text("lifecycle.early-ping", "ping before initialize", r#"{"jsonrpc":"2.0","id":$ID,"method":"ping"}"#, Expectation::Result)
        .session().fresh().should().over(Transport::Stdio)
        .rule("MCP lifecycle: pings are allowed before initialization; MCP ping: the receiver MUST respond promptly"),
    Check::text("lifecycle.unsupported-version", "initialize with a version from 1999",
        r#"{"jsonrpc":"2.0","id":$ID,"method":"initialize","params":{"protocolVersion":"1999-01-01","capabilities":{},"clientInfo":{"name":"failwell-probe","version":"0"}}}"#,
        Expectation::Custom("a version the server supports", version_offered)).session().fresh()
        .rule("MCP lifecycle: otherwise the server MUST respond with another protocol version it supports"),
    Check::text("lifecycle.version-number", "initialize with a version that is a number",
        r#"{"jsonrpc":"2.0","id":$ID,"method":"initialize","params":{"protocolVersion":1,"capabilities":{},"clientInfo":{"name":"failwell-probe","version":"0"}}}"#,
        Expectation::Custom("error −32602, or a version the server supports", version_or_refused)).session().fresh().should()
        .rule("MCP schema: protocolVersion is a string; −32602"),
    Check::text("lifecycle.no-params", "initialize without params", r#"{"jsonrpc":"2.0","id":$ID,"method":"initialize"}"#,
        Expectation::Refusal(ExpectedRefusal { near: &[-32600], ..PARAMS })).session().fresh().should()
        .rule("MCP schema: protocolVersion, capabilities and clientInfo are required; −32602"),
    Check::special("version.batch", "a batch in 2025-03-26", Procedure::OldBatch, "both requests answered").session()
        .rule("MCP 2025-03-26 basic: implementations MUST support receiving JSON-RPC batches"),
    Check::special("lifecycle.twice", "initialize a second time", Procedure::InitializeTwice, "exactly one answer, and the session goes on")
        .session().rule("JSON-RPC 2.0 5: refuse it or repeat it, but answer once"),
    Check::special("stdio.exit", "stdin closes", Procedure::ExitOnEof, "the process ends within three seconds")
        .should().over(Transport::Stdio).rule("MCP lifecycle, shutdown: the client closes the input stream and waits for the server to exit"),
];

fn offered(exchange: &Exchange) -> Option<String> {
    let ServerAnswer::Result(message) = exchange.answer() else { return None };
    message.result()?.get("protocolVersion")?.as_str().map(str::to_owned)
}

fn version_offered(exchange: &Exchange) -> Verdict {
    match (exchange.answer(), offered(exchange)) {
        (_, Some(date)) if Revision::from_date(&date).is_some() => Verdict::HELD,
        (_, Some(date)) => Verdict::broken(format!("it agreed to speak {date:.40}")),
        (ServerAnswer::Error { .. }, _) => {
            Verdict::short("refused with an error instead of offering a version")
        }
        (ServerAnswer::Nothing, None)
            if exchange.status().is_some_and(|status| (400..500).contains(&status)) =>
        {
            Verdict::short("refused by HTTP status instead of offering a version")
        }
        _ => Verdict::broken("no version was offered"),
    }
}

fn version_or_refused(exchange: &Exchange) -> Verdict {
    match exchange.answer() {
        ServerAnswer::Error { code: -32602 | -32600, .. } => Verdict::HELD,
        ServerAnswer::Error { code, .. } => Verdict::broken(format!("refused with {code} instead of −32602")),
        ServerAnswer::Nothing if exchange.status().is_some_and(|status| (400..500).contains(&status)) => {
            Verdict::HELD
        }
        _ => version_offered(exchange),
    }
}
