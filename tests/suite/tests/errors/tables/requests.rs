//! Readable messages with unknown methods or names, or with wrong params.

use serde_json::json;

use crate::case::{Case, case, error, result};
use crate::runner::run;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn methods() {
    run(wrong_methods()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn params() {
    run(wrong_params()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names() {
    run(wrong_names()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_modern_era_introduces_itself_in_every_request() {
    run(introductions()).await;
}

fn wrong_methods() -> Vec<Case> {
    let unknown = || error("mcp/UNKNOWN_METHOD", -32601, 200).modern(-32601, 404);
    let gone =
        |method| case("a method the modern era removed").calls(method, json!({})).gets(unknown()).in_modern();
    let not_yet =
        |method| case("a method of the modern era").calls(method, json!({})).gets(unknown()).in_sessions();
    vec![
        case("no such method")
            .calls("no/such/method", json!({}))
            .gets(unknown().with("/facts/method", "no/such/method")),
        case("methods have exact names").calls("Tools/List", json!({})).gets(unknown()),
        case("a method with nothing in it").calls("", json!({})).gets(unknown()),
        gone("initialize"),
        gone("ping"),
        gone("logging/setLevel"),
        gone("resources/subscribe"),
        gone("resources/unsubscribe"),
        gone("tasks/result"),
        gone("tasks/list"),
        not_yet("server/discover"),
        not_yet("subscriptions/listen"),
        not_yet("tasks/get"),
        case("ping").calls("ping", json!({})).gets(result()).in_sessions(),
        case("discover").calls("server/discover", json!({})).gets(result()).in_modern(),
    ]
}

fn wrong_params() -> Vec<Case> {
    let bad = || error("mcp/BAD_PARAMS", -32602, 200);
    vec![
        case("a call without a name")
            .calls("tools/call", json!({}))
            .gets(bad().with("/violations/0/pointer", "/name").with("/violations/0/rule", "required")),
        case("a name that is a number")
            .calls("tools/call", json!({"name": 5}))
            .gets(bad().with("/violations/0/pointer", "/name").with("/violations/0/limit", "string")),
        case("everything wrong at once")
            .calls("tools/call", json!({"name": [], "arguments": []}))
            .gets(bad().with("/violations/0/pointer", "/name").with("/violations/1/pointer", "/arguments")),
        case("arguments that are a text")
            .calls("tools/call", json!({"name": "greet", "arguments": "x"}))
            .gets(bad().with("/violations/0/limit", "object")),
        case("params that are a list")
            .sends(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[]}"#)
            .gets(bad().id("7").with("/violations/0/pointer", ""))
            .in_sessions(),
        case("a resource without a uri")
            .calls("resources/read", json!({}))
            .gets(bad().with("/violations/0/pointer", "/uri")),
        case("a prompt without its arguments")
            .calls("prompts/get", json!({"name": "test_prompt_with_arguments"}))
            .gets(
                bad()
                    .with("/violations/0/pointer", "/arguments/arg1")
                    .with("/violations/1/pointer", "/arguments/arg2"),
            ),
        case("a prompt argument that is no text")
            .calls("prompts/get", json!({"name": "test_prompt_with_arguments", "arguments": {"arg1": 1}}))
            .gets(bad().with("/violations/0/pointer", "/arguments/arg1")),
        case("a cursor that is no text")
            .calls("tools/list", json!({"cursor": 5}))
            .gets(bad().with("/violations/0/pointer", "/cursor")),
        case("a cursor nobody gave out").calls("tools/list", json!({"cursor": "bm9uc2Vuc2U"})).gets(error(
            "mcp/BAD_CURSOR",
            -32602,
            200,
        )),
        case("another list's cursor").calls("tools/list", json!({"cursor": "cHJvbXB0czow"})).gets(error(
            "mcp/BAD_CURSOR",
            -32602,
            200,
        )),
        case("no such log level")
            .calls("logging/setLevel", json!({"level": "loud"}))
            .gets(error("mcp/BAD_LOG_LEVEL", -32602, 200).hints("debug"))
            .in_sessions(),
        case("no log level")
            .calls("logging/setLevel", json!({}))
            .gets(bad().with("/violations/0/pointer", "/level"))
            .in_sessions(),
        case("no such log level")
            .calls(
                "tools/call",
                json!({"name": "test_logging_tool", "_meta": {"io.modelcontextprotocol/logLevel": "loud"}}),
            )
            .gets(error("mcp/BAD_LOG_LEVEL", -32602, 200).hints("debug"))
            .in_modern(),
        case("a completion of nothing")
            .calls("completion/complete", json!({}))
            .gets(bad().with("/violations/0/pointer", "/ref")),
    ]
}

fn wrong_names() -> Vec<Case> {
    let uri = "test://no-such-resource";
    vec![
        case("a tool nobody has")
            .calls("tools/call", json!({"name": "zzz"}))
            .gets(error("mcp/UNKNOWN_TOOL", -32602, 200).with("/facts/name", "zzz")),
        case("a tool almost named right")
            .calls("tools/call", json!({"name": "test_simple_txt"}))
            .gets(error("mcp/UNKNOWN_TOOL", -32602, 200).hints("`test_simple_text`")),
        case("a prompt almost named right")
            .calls("prompts/get", json!({"name": "test_simple_promt"}))
            .gets(error("mcp/UNKNOWN_PROMPT", -32602, 200).hints("`test_simple_prompt`")),
        case("a resource nobody has")
            .calls("resources/read", json!({"uri": uri}))
            .gets(error("mcp/UNKNOWN_RESOURCE", -32002, 200).modern(-32602, 200).with("/uri", uri)),
        case("a path instead of a resource")
            .calls("resources/read", json!({"uri": "file:///etc/passwd"}))
            .gets(error("mcp/UNKNOWN_RESOURCE", -32002, 200).modern(-32602, 200)),
        case("watching a resource nobody has")
            .calls("resources/subscribe", json!({"uri": uri}))
            .gets(error("mcp/UNKNOWN_RESOURCE", -32002, 200))
            .in_sessions(),
        case("completing a prompt nobody has")
            .calls(
                "completion/complete",
                json!({"ref": {"type": "ref/prompt", "name": "zzz"}, "argument": {"name": "a", "value": ""}}),
            )
            .gets(error("mcp/UNKNOWN_PROMPT", -32602, 200)),
    ]
}

fn introductions() -> Vec<Case> {
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    let info = "io.modelcontextprotocol/clientInfo";
    let lacks = |key: &'static str| error("mcp/META", -32602, 400).with("/facts/key", key);
    let call = |name, meta| case(name).calls("tools/list", json!({"_meta": meta})).in_modern();
    vec![
        call("no capabilities", json!({capabilities: null})).gets(lacks(capabilities)),
        call("capabilities that are no object", json!({capabilities: "all"})).gets(lacks(capabilities)),
        call("a version that is a number", json!({version: 2026})).gets(lacks(version)),
        call("no client info is fine", json!({info: null})).gets(result()),
        case("tasks without the extension")
            .calls("tasks/get", json!({"taskId": "t"}))
            .gets(
                error("mcp/CAPABILITY", -32021, 400).with(
                    "/requiredCapabilities",
                    json!({"extensions": {"io.modelcontextprotocol/tasks": {}}}),
                ),
            )
            .in_modern()
            .over(&[crate::case::Transport::Stdio]),
        case("a capability the client lacks")
            .calls("tools/call", json!({"name": "test_missing_capability"}))
            .gets(
                error("mcp/CAPABILITY", -32602, 200)
                    .modern(-32021, 400)
                    .with("/requiredCapabilities", json!({"sampling": {}})),
            ),
        case("a state nobody sealed")
            .calls(
                "tools/call",
                json!({"name": "test_input_required_result_request_state", "requestState": "forged"}),
            )
            .gets(error("mcp/BAD_STATE", -32602, 200))
            .in_modern(),
    ]
}
