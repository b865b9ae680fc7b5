//! Too much, too deep, too slow, too many.

use crate::check::{Body, Check, Expect, Mark};
use crate::link::Patience;
use crate::special::Special;
use crate::target::Transport;
use crate::wire::http::Pace;

const OVERSIZE: usize = 20 * 1024 * 1024;
const DEPTH: usize = 100_000;
const ANY: Expect = Expect::OneAnswer { silence: Mark::Short };

pub(super) const CHECKS: &[Check] = &[
    Check::text("limit.slow-writer", "a request that arrives in dribbles", r#"{"jsonrpc":"2.0","id":$ID,"method":"$PING","params":{"x":"é☃𝄞é☃𝄞é☃𝄞",$META}}"#, Expect::Result)
        .patience(Patience::Full).pace(Pace::Dribble).rule("a pipe or socket may split a message anywhere, even inside a letter"),
    Check::special("limit.pipelined", "50 requests at once", Special::Pipelined, "each answered exactly once")
        .rule("JSON-RPC 2.0 §5: every request is answered, in any order"),
    Check::special("limit.disconnect", "the caller leaves during a call", Special::Disconnect, "the server goes on for others")
        .needs("tools").rule("survival: a caller that leaves must not take the server with it"),
    Check::special("limit.short-body", "half of the announced body", Special::ShortBody, "the server goes on for others")
        .over(Transport::Http).rule("survival: a caller that leaves must not take the server with it"),
    Check::send("limit.deep-nesting", "100,000 nested arrays", Body::Made(deep), ANY).patience(Patience::Full)
        .rule("survival: refuse it (−32700 or −32600) or serve it, but answer and live on; silence costs a SHOULD"),
    Check::send("limit.oversize", "a 20 MiB message", Body::Made(oversize), ANY).patience(Patience::Full)
        .rule("survival: refuse it (an error, HTTP 413) or serve it, but answer and live on; silence costs a SHOULD"),
    Check::special("stdio.purity", "nothing but JSON-RPC on stdout", Special::Purity, "every line of stdout is a JSON-RPC message")
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
