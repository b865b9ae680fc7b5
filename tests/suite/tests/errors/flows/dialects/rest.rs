//! `/v1`: REST, with one form of error body, or problem details (RFC 9457) on request.

use std::collections::BTreeSet;

use failwell_rpc::Revision;
use serde_json::{Value, json};

use crate::client::http::{Http, Server, settings};
use crate::flows::refused;
use crate::world::{LARGEST, World};

/// Verb, path, body; then status, code and reason.
type RestRow = (&'static str, &'static str, &'static str, u16, i64, &'static str);

const REFUSED: &[RestRow] = &[
    ("POST", "/v1/tools/x", "{}", 404, -32601, "mcp/UNKNOWN_TOOL"),
    ("POST", "/v1/tools/greet", "{}", 422, -32602, "mcp/BAD_ARGUMENTS"),
    ("POST", "/v1/tools/greet", "[]", 422, -32602, "mcp/BAD_ARGUMENTS"),
    ("POST", "/v1/tools/greet", "", 422, -32602, "mcp/BAD_ARGUMENTS"),
    ("POST", "/v1/tools/greet", "{", 400, -32700, "rpc/NOT_JSON"),
    ("POST", "/v1/tools/greet", r#"{"name":"a","name":"b"}"#, 400, -32600, "rpc/DUPLICATE_KEY"),
    ("POST", "/v1/tools/greet", r#"{"name":"\ud800"}"#, 400, -32600, "rpc/LONE_SURROGATE"),
    ("POST", "/v1/tools/suite_panic", "{}", 500, -32603, "server/PANIC"),
    ("POST", "/v1/tools/suite_bad_output", "{}", 500, -32603, "server/OUTPUT"),
    ("POST", "/v1/tools/suite_hang", "{}", 504, -32603, "server/TIMEOUT"),
    ("GET", "/v1/nothing", "", 404, -32601, "http/UNKNOWN_PATH"),
    ("GET", "/", "", 404, -32601, "http/UNKNOWN_PATH"),
    ("DELETE", "/v1/tools", "", 405, -32600, "http/METHOD"),
    ("GET", "/v1/tools/greet", "", 405, -32600, "http/METHOD"),
];

fn accepting(accept: &str) -> Vec<(String, String)> {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    vec![pair("Content-Type", "application/json"), pair("Accept", accept)]
}

#[tokio::test]
async fn one_error_body_everywhere() {
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = Http::raw(&server, Revision::LATEST);
    for (verb, path, body, status, code, reason) in REFUSED {
        let response = client.exchange(verb, path, &accepting("application/json"), body.as_bytes()).await;
        let seen = refused(&world, &response, (*status, *code, reason));
        assert_eq!(response.header("content-type"), Some("application/json"));
        let members: BTreeSet<&str> =
            seen.value.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!(members, BTreeSet::from(["detail", "error_code", "message"]), "{verb} {path}");
        assert_eq!(response.header("allow").is_some(), *status == 405, "{verb} {path}");
    }
    assert_eq!(world.journal().len(), REFUSED.len());
}

#[tokio::test]
async fn problem_details_on_request() {
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = Http::raw(&server, Revision::LATEST);
    for (verb, path, body, status, code, reason) in REFUSED {
        let headers = accepting("application/problem+json");
        let response = client.exchange(verb, path, &headers, body.as_bytes()).await;
        let seen = refused(&world, &response, (*status, *code, reason));
        assert_eq!(response.header("content-type"), Some("application/problem+json"));
        assert_eq!(seen.value["status"], *status, "{}", seen.text);
        assert_eq!(seen.value["type"], format!("urn:failwell:{reason}"));
        for member in ["title", "detail", "instance"] {
            assert!(seen.value[member].is_string(), "{member}: {}", seen.text);
        }
    }
}

#[tokio::test]
async fn validation_names_every_place() {
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = Http::raw(&server, Revision::LATEST);
    let body = json!({"count": 0, "color": "red", "place": {"label": "here"}, "extra": 1}).to_string();
    let response = client.post("/v1/tools/suite_typed", body).await;
    let seen = refused(&world, &response, (422, -32602, "mcp/BAD_ARGUMENTS"));
    assert_eq!(seen.value["message"], "Validation Error");
    let errors = seen.value["detail"]["errors"].as_array().expect("errors");
    let mut places: Vec<Value> = errors.iter().map(|error| error["loc"].clone()).collect();
    places.sort_by_key(ToString::to_string);
    assert_eq!(places, [json!(["body", "count"]), json!(["body", "extra"])], "{}", seen.text);
}

#[tokio::test]
async fn what_works() {
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = Http::raw(&server, Revision::LATEST);
    let list = client.exchange("GET", "/v1/tools", &accepting("application/json"), b"").await;
    assert_eq!(list.message().value["tools"][0]["name"], "test_simple_text");
    let body = json!({"count": 2, "color": "red", "place": {"label": "here"}}).to_string();
    let typed = client.post("/v1/tools/suite_typed", body).await;
    assert_eq!(typed.message().value, json!({"doubled": 4, "color": "red", "label": "here"}));
    assert!(world.journal().is_empty());
}

#[tokio::test]
async fn bodies_past_the_cap() {
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = Http::raw(&server, Revision::LATEST);
    let response = client.post("/v1/tools/greet", " ".repeat(LARGEST + 1)).await;
    refused(&world, &response, (413, -32603, "http/TOO_LARGE"));
    client.still_works().await;
}
