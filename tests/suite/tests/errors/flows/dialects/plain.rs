//! `/rpc`: JSON-RPC 2.0 without MCP.

use failwell_rpc::Revision;
use serde_json::{Value, json};

use crate::client::http::{Http, Server, settings};
use crate::flows::refused;
use crate::judge;
use crate::world::{LARGEST, World};

/// The message, and the expected id, code and reason. The status is always 200.
type RpcRow = (&'static str, &'static [u8], &'static str, i64, &'static str);

const UNREADABLE: &[RpcRow] = &[
    ("bad JSON", b"{\"jsonrpc\":", "null", -32700, "rpc/NOT_JSON"),
    ("nothing", b"", "null", -32700, "rpc/NOT_JSON"),
    ("bad UTF-8", b"{\"a\":\"\xff\"}", "null", -32700, "rpc/NOT_UTF8"),
    ("an empty batch", b"[]", "null", -32600, "rpc/EMPTY_BATCH"),
    ("a number", b"1", "null", -32600, "rpc/BAD_SHAPE"),
    ("no version", br#"{"id":1,"method":"list_tools"}"#, "1", -32600, "rpc/BAD_SHAPE"),
    ("a null id", br#"{"jsonrpc":"2.0","id":null,"method":"list_tools"}"#, "null", -32600, "rpc/BAD_ID"),
    (
        "a key twice",
        br#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":1,"a":2}}"#,
        "1",
        -32600,
        "rpc/DUPLICATE_KEY",
    ),
];

/// The method and its params instead of the whole message.
type RpcCall = (&'static str, &'static str, &'static str, i64, &'static str);

const CALLS: &[RpcCall] = &[
    ("no such method", "x", "{}", -32601, "mcp/UNKNOWN_TOOL"),
    ("no such tool", "execute_tool", r#"{"name":"x"}"#, -32601, "mcp/UNKNOWN_TOOL"),
    ("no tool name", "execute_tool", "{}", -32602, "mcp/TOOL_NAME"),
    ("params as a list", "execute_tool", "[]", -32602, "mcp/BAD_PARAMS"),
    ("params as a list, by name", "greet", "[\"x\"]", -32602, "mcp/BAD_ARGUMENTS"),
    ("an argument missing", "greet", "{}", -32602, "mcp/BAD_ARGUMENTS"),
    ("no such resource", "read_resource", r#"{"uri":"test://none"}"#, -32800, "mcp/UNKNOWN_RESOURCE"),
    ("a panic", "suite_panic", "{}", -32603, "server/PANIC"),
    ("a broken promise", "suite_bad_output", "{}", -32603, "server/OUTPUT"),
    ("no answer in time", "suite_hang", "{}", -32603, "server/TIMEOUT"),
];

const GOOD: &str = r#"{"jsonrpc":"2.0","id":1,"method":"greet","params":{"name":"Bo"}}"#;

async fn client(world: &World) -> (Server, Http) {
    let server = Server::start(world, settings()).await;
    let client = Http::raw(&server, Revision::LATEST);
    (server, client)
}

#[tokio::test]
async fn everything_is_answered_with_status_200() {
    let world = World::new();
    let (_server, mut client) = client(&world).await;
    let calls = CALLS.iter().map(|(name, method, params, code, reason)| {
        let body = format!(r#"{{"jsonrpc":"2.0","id":"q","method":"{method}","params":{params}}}"#);
        (*name, body.into_bytes(), "\"q\"", *code, *reason)
    });
    let unreadable =
        UNREADABLE.iter().map(|(name, body, id, code, reason)| (*name, body.to_vec(), *id, *code, *reason));
    for (name, body, id, code, reason) in unreadable.chain(calls) {
        let response = client.post("/rpc", body).await;
        let seen = refused(&world, &response, (200, code, reason));
        assert_eq!(seen.id.as_deref(), Some(id), "{name}: {}", seen.text);
        let good = client.post("/rpc", GOOD).await.message();
        assert_eq!(good.first_text(), "Hello, Bo!", "{name}");
    }
    assert_eq!(world.journal().len(), UNREADABLE.len() + CALLS.len());
}

#[tokio::test]
async fn the_words_of_the_contract() {
    let world = World::new();
    let (_server, mut client) = client(&world).await;
    let mut error = async |method: &str, params: Value| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        client.post("/rpc", body.to_string()).await.message().value["error"].clone()
    };
    assert_eq!(error("execute_tool", json!({"name": "x"})).await["message"], "Tool not found: x");
    assert_eq!(error("x", json!({})).await["message"], "Tool not found: x");
    assert_eq!(error("execute_tool", json!({})).await["message"], "Tool name is required");
    let missing = error("read_resource", json!({"uri": "test://none"})).await;
    assert_eq!(missing["message"], "Resource not found: test://none");
    let invalid = error("greet", json!({})).await;
    assert_eq!(invalid["message"], "Validation Error");
    let errors = json!([{"loc": ["body", "name"], "msg": "field required", "type": "value_error.missing"}]);
    assert_eq!(invalid["data"]["errors"], errors);
}

#[tokio::test]
async fn batches_are_answered_in_order_and_notifications_not_at_all() {
    let world = World::new();
    let (_server, mut client) = client(&world).await;
    let scalar = client.post("/rpc", "[1]").await;
    assert_eq!((scalar.status, scalar.message().value[0]["error"]["code"].clone()), (200, json!(-32600)));
    let slow = r#"{"jsonrpc":"2.0","id":1,"method":"suite_late","params":{"ms":100}}"#;
    let unknown = r#"{"jsonrpc":"2.0","id":2,"method":"x"}"#;
    let notice = r#"{"jsonrpc":"2.0","method":"greet","params":{"name":"Bo"}}"#;
    let mixed = client.post("/rpc", format!("[{slow},{notice},{unknown}]")).await;
    assert_eq!(mixed.status, 200);
    let seen = mixed.message();
    assert_eq!(seen.value.as_array().map(Vec::len), Some(2), "{}", seen.text);
    assert_eq!((&seen.value[0]["id"], &seen.value[1]["id"]), (&json!(1), &json!(2)));
    assert_eq!(seen.value[1]["error"]["code"], -32601);
    assert_eq!(judge::no_leak(&seen.text), Ok(()));
    for silent in [notice.to_owned(), format!("[{notice},{notice}]")] {
        let response = client.post("/rpc", silent).await;
        assert_eq!((response.status, response.body.len()), (204, 0));
    }
}

#[tokio::test]
async fn types_and_sizes() {
    let world = World::new();
    let (_server, mut client) = client(&world).await;
    let wrong = client.post_with("/rpc", GOOD, &[("Content-Type", "text/plain")]).await;
    let seen = refused(&world, &wrong, (200, -32700, "rpc/CONTENT_TYPE"));
    assert_eq!(seen.id.as_deref(), Some("1"));
    let charset = [("Content-Type", "application/json; charset=utf-8")];
    assert!(client.post_with("/rpc", GOOD, &charset).await.message().value.get("result").is_some());
    let large = client.post("/rpc", " ".repeat(LARGEST + 1)).await;
    refused(&world, &large, (200, -32603, "http/TOO_LARGE"));
    let get = client.exchange("GET", "/rpc", &[], b"").await;
    refused(&world, &get, (405, -32600, "http/METHOD"));
    assert_eq!(get.header("allow"), Some("POST, OPTIONS"));
}
