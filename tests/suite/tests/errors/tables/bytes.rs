//! Bytes that are no JSON, or JSON that parsers disagree about.

use crate::case::{Case, Transport, case, error, silence};
use crate::runner::run;
use crate::world::LARGEST;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unreadable_bytes() {
    run(unreadable()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_that_parsers_disagree_about() {
    run(hostile()).await;
}

fn unreadable() -> Vec<Case> {
    let not_json = || error("rpc/NOT_JSON", -32700, 400);
    let not_utf8 = || error("rpc/NOT_UTF8", -32700, 400);
    vec![
        case("an object cut short").sends(r#"{"jsonrpc":"2.0","id":1,"method":"#).gets(not_json()),
        case("words").sends("hello there").gets(not_json()),
        case("a trailing comma").sends(r#"{"jsonrpc":"2.0","id":1,"method":"ping",}"#).gets(not_json()),
        case("single quotes").sends("{'jsonrpc':'2.0'}").gets(not_json()),
        case("two messages on one line").sends(r#"{"jsonrpc":"2.0"} {"jsonrpc":"2.0"}"#).gets(not_json()),
        case("something behind the message")
            .sends(r#"{"jsonrpc":"2.0","id":1,"method":"ping"} x"#)
            .gets(not_json()),
        case("NaN").sends(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"n":NaN}}"#).gets(not_json()),
        case("a number with a leading zero")
            .sends(r#"{"jsonrpc":"2.0","id":01,"method":"ping"}"#)
            .gets(not_json()),
        case("a raw control character in a text").sends(b"{\"a\":\"\x01\"}".to_vec()).gets(not_json()),
        case("a byte order mark").sends(b"\xef\xbb\xbf{}".to_vec()).gets(not_json()),
        case("a batch cut short").sends("[{},").gets(not_json()),
        case("a byte that is not UTF-8").sends(b"{\"a\":\"\xff\"}".to_vec()).gets(not_utf8()),
        case("UTF-16").sends(b"\xff\xfe{\x00}\x00".to_vec()).gets(not_utf8()),
        case("an overlong encoding").sends(b"{\"a\":\"\xc0\xaf\"}".to_vec()).gets(not_utf8()),
        case("a surrogate in UTF-8").sends(b"{\"a\":\"\xed\xa0\x80\"}".to_vec()).gets(not_utf8()),
        case("a character cut in half").sends(b"{\"a\":\"\xe2\x82\"}".to_vec()).gets(not_utf8()),
        case("an empty line").sends("").gets(silence()).over(&[Transport::Stdio]),
        case("an empty body").sends("").gets(not_json()).over(&[Transport::Http]),
    ]
}

fn hostile() -> Vec<Case> {
    let call =
        |params: &str| format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{params}}}"#);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let wide: Vec<String> = (0..100_000).map(|n| format!("\"k{n}\":0")).collect();
    let wide = format!("{{{}}}", wide.join(","));
    let large = format!("{{\"x\":\"{}\"}}", "x".repeat(LARGEST));
    vec![
        case("100,000 levels in the params")
            .sends(call(&format!("{{\"a\":{deep}}}")))
            .gets(error("rpc/TOO_DEEP", -32600, 400).id("7").with("/facts/limit", 128).hints("128")),
        case("100,000 levels and nothing else")
            .sends(format!("{}0{}", "{\"a\":".repeat(100_000), "}".repeat(100_000)))
            .gets(error("rpc/TOO_DEEP", -32600, 400)),
        case("100,000 batches in one another")
            .sends(deep)
            .gets(error("rpc/BATCH_NOT_ALLOWED", -32600, 400))
            .only(|revision| !revision.allows_batch()),
        case("100,000 keys")
            .sends(call(&wide))
            .gets(error("rpc/TOO_MANY_KEYS", -32600, 400).id("7").with("/facts/limit", 10_000)),
        case("a key twice in the params")
            .sends(call(r#"{"name":"a","name":"b"}"#))
            .gets(error("rpc/DUPLICATE_KEY", -32600, 400).id("7")),
        case("a key twice, once escaped")
            .sends(call(r#"{"name":"a","n\u0061me":"b"}"#))
            .gets(error("rpc/DUPLICATE_KEY", -32600, 400).id("7")),
        case("the method twice")
            .sends(r#"{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/list"}"#)
            .gets(error("rpc/DUPLICATE_KEY", -32600, 400).id("7")),
        case("the id twice").sends(r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}"#).gets(error(
            "rpc/DUPLICATE_KEY",
            -32600,
            400,
        )),
        case("half a surrogate pair")
            .sends(call(r#"{"name":"\ud800"}"#))
            .gets(error("rpc/LONE_SURROGATE", -32600, 400).id("7")),
        case("a surrogate pair the wrong way round")
            .sends(call(r#"{"name":"\udc00\ud800"}"#))
            .gets(error("rpc/LONE_SURROGATE", -32600, 400).id("7")),
        case("a number no double can hold")
            .sends(call(r#"{"n":1e400}"#))
            .gets(error("rpc/NUMBER_RANGE", -32600, 400).id("7")),
        case("a number of 100,000 digits")
            .sends(call(&format!("{{\"n\":{}}}", "9".repeat(100_000))))
            .gets(error("rpc/NUMBER_RANGE", -32600, 400).id("7")),
        case("a line past the cap")
            .sends(call(&large))
            .gets(error("rpc/LINE_TOO_LONG", -32600, 0).id("7").with("/facts/limit", LARGEST))
            .over(&[Transport::Stdio]),
        case("a body past the cap")
            .sends(call(&large))
            .gets(
                error("http/TOO_LARGE", 1413, 413)
                    .with("/facts/limit", LARGEST)
                    .with("/retry", "after_change"),
            )
            .over(&[Transport::Http]),
    ]
}
