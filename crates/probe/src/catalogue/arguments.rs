//! Known tools with arguments their own schema excludes.

use crate::check::{Check, Expect};
use crate::exchange::{Answer, Exchange};
use crate::link::Patience;
use crate::revision::Revision;
use crate::special::Special;
use crate::verdict::Verdict;

const WANTED: Expect =
    Expect::Custom("a failed tool result (isError); before 2025-11-25 also −32602", refused);
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
    Check::special("leak.secret-in-logs", "a password among wrong arguments", Special::PlantSecret, "the password is in no log message")
        .leak().needs("tools").rule("MCP logging: log messages MUST NOT contain credentials or secrets"),
];

fn refused(exchange: &Exchange) -> Verdict {
    match exchange.answer() {
        Answer::Failed(_) => Verdict::HELD,
        Answer::Error { code: -32602, .. } if exchange.revision < Revision::November2025 => Verdict::HELD,
        Answer::Error { code: -32602, .. } => {
            Verdict::short("a protocol error, which hosts need not show to the model, instead of isError")
        }
        Answer::Error { code, .. } => Verdict::broken(format!("refused with {code} instead of isError")),
        Answer::Result(_) => Verdict::broken("the tool ran with arguments its own schema excludes"),
        Answer::Nothing => Verdict::broken("no answer"),
    }
}
