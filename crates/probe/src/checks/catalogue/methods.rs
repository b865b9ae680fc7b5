//! Methods that do not exist, and methods that do with parameters that cannot be right.

use super::{INVALID_PARAMS, METHOD_NOT_FOUND, PARAMS};
use crate::checks::check::{Check, Expectation, ExpectedRefusal};
use crate::checks::verdict::Verdict;
use crate::connection::exchange::{Exchange, ServerAnswer};

const UNKNOWN: Expectation = Expectation::Refusal(METHOD_NOT_FOUND);
const CALL_RULE: &str = "MCP tools, error handling: a malformed tools/call is a protocol error, −32602";

/// In the modern era a name that is no string cannot be mirrored in a header, which is refused first.
const BAD_NAME: Expectation = Expectation::Refusal(ExpectedRefusal { codes: &[-32602, -32020], ..PARAMS });

pub(super) const CHECKS: &[Check] = &[
    Check::text("method.unknown", "an unknown method", r#"{"jsonrpc":"2.0","id":$ID,"method":"failwell/no-such-method","params":{$META}}"#, UNKNOWN)
        .rule("JSON-RPC 2.0 5.1: −32601"),
    Check::text("method.empty", "an empty method", r#"{"jsonrpc":"2.0","id":$ID,"method":"","params":{$META}}"#,
        Expectation::Refusal(ExpectedRefusal { codes: &[-32601, -32600, -32020], ..METHOD_NOT_FOUND }))
        .rule("JSON-RPC 2.0 5.1: −32601"),
    Check::text("method.case", "a known method in capitals", r#"{"jsonrpc":"2.0","id":$ID,"method":"TOOLS/LIST","params":{$META}}"#, UNKNOWN)
        .rule("method names are case-sensitive: −32601"),
    Check::text("method.reserved", "a method in the reserved rpc. space", r#"{"jsonrpc":"2.0","id":$ID,"method":"rpc.discover","params":{$META}}"#, UNKNOWN)
        .rule("JSON-RPC 2.0 4: rpc. is reserved; 5.1: −32601"),
    Check::text("call.no-params", "tools/call without params", r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/call"}"#,
        BAD_NAME).session().needs("tools").rule(CALL_RULE),
    Check::text("call.no-name", "tools/call without a name", r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/call","params":{"arguments":{},$META}}"#,
        BAD_NAME).needs("tools").rule(CALL_RULE),
    Check::text("call.name-number", "a tool name that is a number", r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/call","params":{"name":42,"arguments":{},$META}}"#,
        BAD_NAME).needs("tools").rule(CALL_RULE),
    Check::text("call.arguments-array", "arguments that are an array", r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/call","params":{"name":$TOOL,"arguments":[1],$META}}"#,
        INVALID_PARAMS).needs("tools").rule(CALL_RULE),
    Check::text("call.arguments-string", "arguments that are a string", r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/call","params":{"name":$TOOL,"arguments":"x",$META}}"#,
        INVALID_PARAMS).needs("tools").rule(CALL_RULE),
    Check::text("call.bad-cursor", "an unknown cursor", r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/list","params":{"cursor":"failwell-no-such-cursor",$META}}"#,
        Expectation::Custom("error −32602", bad_cursor)).should().needs("tools")
        .rule("MCP pagination: invalid cursors SHOULD result in −32602"),
    Check::text("call.cursor-number", "a cursor that is a number", r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/list","params":{"cursor":42,$META}}"#,
        INVALID_PARAMS).should().needs("tools").rule("MCP schema: a cursor is a string; −32602"),
    Check::text("prompt.unknown", "an unknown prompt", r#"{"jsonrpc":"2.0","id":$ID,"method":"prompts/get","params":{"name":"failwell-no-such-prompt",$META}}"#,
        INVALID_PARAMS).should().needs("prompts").rule("MCP prompts: an invalid prompt name SHOULD be −32602"),
    Check::text("prompt.no-name", "prompts/get without a name", r#"{"jsonrpc":"2.0","id":$ID,"method":"prompts/get","params":{$META}}"#,
        BAD_NAME).should().needs("prompts").rule("MCP prompts: missing arguments SHOULD be −32602"),
    Check::text("resource.unknown", "an unknown resource", r#"{"jsonrpc":"2.0","id":$ID,"method":"resources/read","params":{"uri":"failwell://no-such-resource",$META}}"#,
        Expectation::Custom("error −32002 in the session era, −32602 in the modern one", unknown_resource)).needs("resources")
        .rule("MCP resources: not found SHOULD be −32002 up to 2025-11-25, MUST be −32602 in 2026-07-28"),
    Check::text("resource.no-uri", "resources/read without a uri", r#"{"jsonrpc":"2.0","id":$ID,"method":"resources/read","params":{$META}}"#,
        BAD_NAME).should().needs("resources").rule("MCP schema: uri is required; −32602"),
    Check::text("log.bad-level", "a log level that does not exist", r#"{"jsonrpc":"2.0","id":$ID,"method":"logging/setLevel","params":{"level":"loudest"}}"#,
        INVALID_PARAMS).should().session().needs("logging").rule("MCP logging: an invalid level SHOULD be −32602"),
    Check::text("completion.bad-reference", "completion for a reference that does not exist",
        r#"{"jsonrpc":"2.0","id":$ID,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"failwell-no-such-prompt"},"argument":{"name":"a","value":"b"},$META}}"#,
        INVALID_PARAMS).should().needs("completions").rule("MCP completion: an invalid prompt name SHOULD be −32602"),
];

/// A server with one page may not read the cursor at all: then it ignores a wrong one, which the rule discourages.
fn bad_cursor(exchange: &Exchange) -> Verdict {
    match exchange.answer() {
        ServerAnswer::Error { code: -32602, .. } => Verdict::HELD,
        ServerAnswer::Error { code, .. } => Verdict::broken(format!("refused with {code} instead of −32602")),
        ServerAnswer::Result(_) | ServerAnswer::Failed(_) => {
            Verdict::broken("the list came back as if the cursor were right")
        }
        ServerAnswer::Nothing => Verdict::broken("no answer"),
    }
}

fn unknown_resource(exchange: &Exchange) -> Verdict {
    let modern = exchange.revision.is_modern();
    match exchange.answer() {
        ServerAnswer::Error { code: -32602, .. } if modern => Verdict::HELD,
        ServerAnswer::Error { code: -32002, .. } if modern => {
            Verdict::broken("−32002 MUST NOT be sent in 2026-07-28")
        }
        ServerAnswer::Error { code: -32002, .. } => Verdict::HELD,
        ServerAnswer::Error { code: -32602, .. } => Verdict::short("−32602 instead of −32002"),
        ServerAnswer::Error { code, .. } => Verdict::broken(format!("refused with {code}")),
        ServerAnswer::Result(_) | ServerAnswer::Failed(_) => {
            Verdict::broken("contents came back for an unknown resource")
        }
        ServerAnswer::Nothing => Verdict::broken("no answer"),
    }
}
