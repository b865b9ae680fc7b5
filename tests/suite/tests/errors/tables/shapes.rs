//! JSON that is no message.

use crate::case::{Case, case, error, silence};
use crate::runner::run;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_that_is_no_message() {
    run(shapes()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_that_are_never_answered() {
    run(notices()).await;
}

fn shapes() -> Vec<Case> {
    let bad_shape = || error("rpc/BAD_SHAPE", -32600, 400);
    vec![
        case("a number").sends("42").gets(bad_shape()),
        case("a text").sends("\"ping\"").gets(bad_shape()),
        case("null").sends("null").gets(bad_shape()),
        case("true").sends("true").gets(bad_shape()),
        case("an empty object").sends("{}").gets(bad_shape()),
        case("no jsonrpc").sends(r#"{"id":7,"method":"tools/list"}"#).gets(bad_shape().id("7")),
        case("jsonrpc 1.0").sends(r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#).gets(bad_shape().id("7")),
        case("jsonrpc as a number")
            .sends(r#"{"jsonrpc":2.0,"id":7,"method":"ping"}"#)
            .gets(bad_shape().id("7")),
        case("jsonrpc null").sends(r#"{"jsonrpc":null,"id":7,"method":"ping"}"#).gets(bad_shape().id("7")),
        case("no method").sends(r#"{"jsonrpc":"2.0","id":"a"}"#).gets(bad_shape().id("\"a\"")),
        case("a method that is a number")
            .sends(r#"{"jsonrpc":"2.0","id":7,"method":1}"#)
            .gets(bad_shape().id("7")),
        case("a method that is null")
            .sends(r#"{"jsonrpc":"2.0","id":7,"method":null}"#)
            .gets(bad_shape().id("7")),
        case("params that are a text")
            .sends(r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":"x"}"#)
            .gets(bad_shape().id("7")),
        case("params that are null")
            .sends(r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":null}"#)
            .gets(bad_shape().id("7")),
        case("a method and a result")
            .sends(r#"{"jsonrpc":"2.0","id":7,"method":"ping","result":{}}"#)
            .gets(bad_shape().id("7")),
        case("an empty batch").sends("[]").gets(error("rpc/EMPTY_BATCH", -32600, 400)),
        case("a batch where there are none")
            .sends(r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#)
            .gets(error("rpc/BATCH_NOT_ALLOWED", -32600, 400))
            .only(|revision| !revision.allows_batch()),
    ]
}

fn notices() -> Vec<Case> {
    let notice = |method: &str| format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#);
    vec![
        case("a notification nobody knows").sends(notice("notifications/nonsense")).gets(silence()),
        case("a request without an id is a notification").sends(notice("tools/list")).gets(silence()),
        case("a second initialized").sends(notice("notifications/initialized")).gets(silence()),
        case("cancellation of nothing").sends(notice("notifications/cancelled")).gets(silence()),
        case("cancellation of a request that never was")
            .sends(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#)
            .gets(silence()),
        case("cancellation of something that is no id")
            .sends(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}"#)
            .gets(silence()),
        case("progress for nobody")
            .sends(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":[1,2]}"#)
            .gets(silence()),
        case("an answer to nothing")
            .sends(r#"{"jsonrpc":"2.0","id":12345,"result":{}}"#)
            .gets(silence())
            .in_sessions(),
        case("a broken answer is not answered: its id is one of ours")
            .sends(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}"#)
            .gets(silence())
            .in_sessions(),
    ]
}
