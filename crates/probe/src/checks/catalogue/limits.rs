//! Too much, too deep, too slow, too many.

use crate::checks::check::{Check, Expectation, Payload, Severity};
use crate::checks::procedure::Procedure;
use crate::connection::Patience;
use crate::connection::wire::http::SendPace;
use crate::target::Transport;

const OVERSIZE: usize = 20 * 1024 * 1024;
const DEPTH: usize = 100_000;
const ANY: Expectation = Expectation::OneAnswer { silence: Severity::Short };

pub(super) const CHECKS: &[Check] = &[
    Check::text("limit.slow-writer", "a request that arrives in dribbles", r#"{"jsonrpc":"2.0","id":$ID,"method":"$PING","params":{"x":"é☃𝄞é☃𝄞é☃𝄞",$META}}"#, Expectation::Result)
        .patience(Patience::Full).pace(SendPace::Dribble).rule("a pipe or socket may split a message anywhere, even inside a letter"),
    Check::special("limit.pipelined", "50 requests at once", Procedure::Pipelined, "each answered exactly once")
        .rule("JSON-RPC 2.0 5: every request is answered, in any order"),
    Check::special("limit.disconnect", "the caller leaves during a call", Procedure::Disconnect, "the server goes on for others")
        .needs("tools").rule("survival: a caller that leaves must not take the server with it"),
    Check::special("limit.short-body", "half of the announced body", Procedure::ShortBody, "the server goes on for others")
        .over(Transport::Http).rule("survival: a caller that leaves must not take the server with it"),
    Check::send("limit.deep-nesting", "100,000 nested arrays", Payload::Made(deep), ANY).patience(Patience::Full)
        .rule("survival: refuse it (−32700 or −32600) or serve it, but answer and live on; silence costs a SHOULD"),
    Check::send("limit.oversize", "a 20 MiB message", Payload::Made(oversize), ANY).patience(Patience::Full)
        .rule("survival: refuse it (an error, HTTP 413) or serve it, but answer and live on; silence costs a SHOULD"),
    Check::special("stdio.purity", "nothing but JSON-RPC on stdout", Procedure::Purity, "every line of stdout is a JSON-RPC message")
        .over(Transport::Stdio).rule("MCP stdio: the server MUST NOT write anything to stdout that is not a valid MCP message"),
];

fn deep() -> String {
    let nest = ["[".repeat(DEPTH), "]".repeat(DEPTH)].concat();
    format!(r#"{{"jsonrpc":"2.0","id":$ID,"method":"$PING","params":{{$META,"x":{nest}}}}}"#)
}

fn oversize() -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":$ID,"method":"$PING","params":{{$META,"x":"{}"}}}}"#,
        "x".repeat(OVERSIZE)
    )
}
