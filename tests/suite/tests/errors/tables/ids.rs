//! Ids: invalid ones are refused, all others are echoed exactly.

use serde_json::json;

use crate::case::{Case, case, error, result};
use crate::runner::run;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ids_that_are_none() {
    let bad = |name, id: &str| {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
        case(name).sends(text).gets(error("rpc/BAD_ID", -32600, 400).hints("string or an integer"))
    };
    run(vec![
        bad("null", "null"),
        bad("true", "true"),
        bad("a fraction", "1.5"),
        bad("an object", "{}"),
        bad("an array", "[1]"),
        bad("a text of 2,000 characters", &format!("\"{}\"", "i".repeat(2_000))),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ids_come_back_as_they_were_written() {
    let texts = [
        "0",
        "-1",
        "-0",
        "9007199254740993",
        "123456789012345678901234567890",
        "\"\"",
        "\"1\"",
        "\"é\"",
        r#""\u00e9""#,
        r#""a\"b\\c\/d""#,
        r#""\ud83d\ude00""#,
        "\"null\"",
    ];
    let echo = |id: &&str| -> [Case; 2] {
        let call = || case("an id comes back");
        [
            call().calls("tools/list", json!({})).gets(result()).under(id),
            call()
                .calls("no/such/method", json!({}))
                .gets(error("mcp/UNKNOWN_METHOD", -32601, 200).modern(-32601, 404))
                .under(id),
        ]
    };
    run(texts.iter().flat_map(echo).collect()).await;
}
