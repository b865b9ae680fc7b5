//! Known tools with arguments their own schema excludes.

use crate::checks::check::{Check, Expectation};
use crate::checks::procedure::Procedure;
use crate::checks::verdict::Verdict;
use crate::connection::Patience;
use crate::connection::exchange::{Exchange, ServerAnswer};
use crate::revision::Revision;

const WANTED: Expectation =
    Expectation::Custom("a failed tool result (isError); before 2025-11-25 also −32602", refused);
const RULE: &str = "MCP tools: servers MUST validate all tool inputs; since 2025-11-25 validation failures are isError results, which the model can see";

pub(super) const CHECKS: &[Check] = &[
    Check::text("arguments.wrong-type", "an argument of a type the schema excludes",
        r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/call","params":{"name":$STRICT,"arguments":$WRONG,$META}}"#, WANTED)
        .needs("tools").patience(Patience::Full).rule(RULE),
    Check::text("arguments.missing", "a required argument left out",
        r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/call","params":{"name":$STRICT,"arguments":$NONE,$META}}"#, WANTED)
        .needs("tools").patience(Patience::Full).rule(RULE),
    Check::text("arguments.absent", "no arguments at all where some are required",
        r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/call","params":{"name":$NEEDY,$META}}"#, WANTED)
        .needs("tools").patience(Patience::Full).rule(RULE),
    Check::special("leak.secret-in-logs", "a password among wrong arguments", Procedure::PlantSecret, "the password is in no log message")
        .leak().needs("tools").rule("MCP logging: log messages MUST NOT contain credentials or secrets"),
];

fn refused(exchange: &Exchange) -> Verdict {
    match exchange.answer() {
        ServerAnswer::Failed(_) => Verdict::HELD,
        ServerAnswer::Error { code: -32602, .. } if exchange.revision < Revision::November2025 => {
            Verdict::HELD
        }
        ServerAnswer::Error { code: -32602, .. } => {
            Verdict::short("a protocol error, which hosts need not show to the model, instead of isError")
        }
        ServerAnswer::Error { code, .. } => {
            Verdict::broken(format!("refused with {code} instead of isError"))
        }
        ServerAnswer::Result(_) => Verdict::broken("the tool ran with arguments its own schema excludes"),
        ServerAnswer::Nothing => Verdict::broken("no answer"),
    }
}
