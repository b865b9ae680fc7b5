//! Tools that do not exist.

use super::PARAMS;
use crate::checks::check::{Check, Expectation, ExpectedRefusal, Severity};
use crate::checks::procedure::Procedure;
use crate::connection::Patience;

/// Every official SDK but one gives a failed result here; the specification says protocol error.
const UNKNOWN_TOOL: Expectation = Expectation::Refusal(ExpectedRefusal { failed: Severity::Short, ..PARAMS });

pub(super) const CHECKS: &[Check] = &[
    Check::text("tool.unknown", "an unknown tool", r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/call","params":{"name":"failwell_no_such_tool","arguments":{},$META}}"#,
        UNKNOWN_TOOL).needs("tools").rule("MCP tools, error handling: an unknown tool is a protocol error, −32602"),
    Check::text("tool.empty-name", "a tool with an empty name", r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/call","params":{"name":"","arguments":{},$META}}"#,
        Expectation::Refusal(ExpectedRefusal { codes: &[-32602, -32020], failed: Severity::Short, ..PARAMS })).needs("tools")
        .rule("MCP tools, error handling: an unknown tool is a protocol error, −32602"),
    Check::special("tool.near-miss", "a tool name one letter off", Procedure::NearMiss, "an error that names the nearest tool")
        .should().needs("tools").rule("good manners: the model that mistyped a name can only correct it when told the right one"),
    Check::text("tool.valid", "a valid call still works", r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/call","params":{"name":$TOOL,"arguments":$ARGS,$META}}"#,
        Expectation::Result).needs("tools").patience(Patience::Full).rule("MCP tools: a valid call gets a result with its id"),
];
