//! Tools that go wrong, and arguments they cannot take.

use serde_json::json;

use crate::case::{Case, case, error, result, tool_error};
use crate::runner::run;
use crate::world::LARGEST;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools() {
    run(trouble()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arguments() {
    run(wrong_arguments()).await;
}

fn trouble() -> Vec<Case> {
    let call = |name, tool: &str, arguments| {
        case(name).calls("tools/call", json!({"name": tool, "arguments": arguments}))
    };
    vec![
        call("a handler that panics", "suite_panic", json!({})).gets(error("server/PANIC", -32603, 200)),
        call("a handler that breaks its promise", "suite_bad_output", json!({})).gets(error(
            "server/OUTPUT",
            -32603,
            200,
        )),
        call("a handler that never answers", "suite_hang", json!({}))
            .gets(tool_error("server/TIMEOUT").with("/effect", "unknown").with("/kind", "timeout")),
        call("a handler that is too slow", "suite_late", json!({"ms": 60_000}))
            .gets(tool_error("server/TIMEOUT")),
        call("a handler that is slow, but not too slow", "suite_late", json!({"ms": 100})).gets(result()),
        call("an answer past the cap", "suite_big", json!({"bytes": LARGEST}))
            .gets(error("server/TOO_LARGE", -32603, 200).with("/facts/limit", LARGEST)),
        call("a large answer within the cap", "suite_big", json!({"bytes": LARGEST - 4_096})).gets(result()),
    ]
}

fn wrong_arguments() -> Vec<Case> {
    let call = |name, arguments| {
        case(name).calls("tools/call", json!({"name": "suite_typed", "arguments": arguments}))
    };
    let bad = || tool_error("mcp/BAD_ARGUMENTS").with("/effect", "none").with("/retry", "after_change");
    let good = json!({"count": 1, "color": "red", "place": {"label": "here"}});
    let with = |member: &str, value| {
        let mut arguments = good.clone();
        arguments[member] = value;
        arguments
    };
    vec![
        call("arguments that fit", good.clone()).gets(result()),
        call("none at all", json!({})).gets(
            bad()
                .with("/violations/0/rule", "required")
                .with("/violations/0/pointer", "/count")
                .with("/violations/1/pointer", "/color")
                .with("/violations/2/pointer", "/place"),
        ),
        call("too small", with("count", json!(0))).gets(
            bad()
                .with("/violations/0/pointer", "/count")
                .with("/violations/0/rule", "minimum")
                .with("/violations/0/limit", 1),
        ),
        call("too large", with("count", json!(11)))
            .gets(bad().with("/violations/0/rule", "maximum").with("/violations/0/limit", 10)),
        call("the wrong type", with("count", json!("three")))
            .gets(bad().with("/violations/0/rule", "type").with("/violations/0/limit", "integer")),
        call("not one of the choices", with("color", json!("pink"))).gets(
            bad()
                .with("/violations/0/pointer", "/color")
                .with("/violations/0/rule", "choice")
                .with("/violations/0/limit", json!(["red", "green", "blue"])),
        ),
        call("a nested text too long", with("place", json!({"label": "123456789"}))).gets(
            bad()
                .with("/violations/0/pointer", "/place/label")
                .with("/violations/0/rule", "max_length")
                .with("/violations/0/limit", 8),
        ),
        call("an unknown member", with("colour", json!("red"))).gets(
            bad()
                .with("/violations/0/pointer", "/colour")
                .with("/violations/0/rule", "unknown")
                .with("/violations/0/message", "unknown field (did you mean `color`?)"),
        ),
        call("an unknown nested member with a slash", with("place", json!({"label": "x", "a/b": 1})))
            .gets(bad().with("/violations/0/pointer", "/place/a~1b")),
        call("everything wrong at once", json!({"count": 99, "color": 1, "place": {}, "extra": 1})).gets(
            bad()
                .with("/violations/0/pointer", "/count")
                .with("/violations/1/pointer", "/color")
                .with("/violations/3/pointer", "/place/label")
                .with("/violations/4/pointer", "/extra")
                .with("/errors/3/loc", json!(["body", "place", "label"])),
        ),
    ]
}
