//! Equal failures have the same code, message and detail over REST and over `/rpc`, and every path has the same form of
//! error body.

mod plain;
mod rest;

use std::sync::Arc;

use failwell_fault::Secret;
use failwell_policy::{KeyHash, Keys};
use failwell_rpc::Caller;
use failwell_rpc::Revision;
use failwell_transport::HttpSettings;
use serde_json::{Value, json};

use super::refused;
use crate::client::http::{Http, Server, settings};
use crate::client::soon;
use crate::client::wire::Response;
use crate::judge;
use crate::world::{LARGEST, World};

/// One failure: the body for REST, the path there, and the message for `/rpc`.
struct FaultRow {
    name: &'static str,
    path: &'static str,
    body: Vec<u8>,
    rpc: Vec<u8>,
    expect: (u16, i64, &'static str),
}

fn call(tool: &str, arguments: &str) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"execute_tool","params":{{"name":"{tool}","arguments":{arguments}}}}}"#)
        .into_bytes()
}

fn by_name(tool: &str, arguments: &str) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{tool}","params":{arguments}}}"#).into_bytes()
}

/// Name, path, tool, arguments; then status, code and reason.
type ToolRow = (&'static str, &'static str, &'static str, &'static str, (u16, i64, &'static str));

fn rows() -> Vec<FaultRow> {
    let mut rows = Vec::new();
    let tools: &[ToolRow] = &[
        ("unknown tool", "/v1/tools/x", "x", "{}", (404, -32601, "mcp/UNKNOWN_TOOL")),
        ("nearly a tool", "/v1/tools/greeet", "greeet", "{}", (404, -32601, "mcp/UNKNOWN_TOOL")),
        ("missing argument", "/v1/tools/greet", "greet", "{}", (422, -32602, "mcp/BAD_ARGUMENTS")),
        ("wrong argument", "/v1/tools/greet", "greet", r#"{"name":5}"#, (422, -32602, "mcp/BAD_ARGUMENTS")),
        ("a list of arguments", "/v1/tools/greet", "greet", "[1]", (422, -32602, "mcp/BAD_ARGUMENTS")),
        ("a panic", "/v1/tools/suite_panic", "suite_panic", "{}", (500, -32603, "server/PANIC")),
        (
            "a broken promise",
            "/v1/tools/suite_bad_output",
            "suite_bad_output",
            "{}",
            (500, -32603, "server/OUTPUT"),
        ),
        (
            "a failure in the tool's own words",
            "/v1/tools/test_error_handling",
            "test_error_handling",
            "{}",
            (502, -32603, "mcp/TOOL_FAILED"),
        ),
        ("no answer in time", "/v1/tools/suite_hang", "suite_hang", "{}", (504, -32603, "server/TIMEOUT")),
    ];
    for (name, path, tool, arguments, expect) in tools {
        for rpc in [call(tool, arguments), by_name(tool, arguments)] {
            let body = arguments.as_bytes().to_vec();
            rows.push(FaultRow { name, path, body, rpc, expect: *expect });
        }
    }
    // Bytes that are no JSON are the same bytes on both.
    for (name, bytes, reason) in [
        ("bad JSON", &b"{\"jsonrpc\":"[..], "rpc/NOT_JSON"),
        ("nonsense", b"{nope", "rpc/NOT_JSON"),
        ("bad UTF-8", b"{\"a\":\"\xff\"}", "rpc/NOT_UTF8"),
    ] {
        let expect = (400, -32700, reason);
        rows.push(FaultRow {
            name,
            path: "/v1/tools/greet",
            body: bytes.to_vec(),
            rpc: bytes.to_vec(),
            expect,
        });
    }
    let large = vec![b' '; LARGEST + 1];
    let expect = (413, -32603, "http/TOO_LARGE");
    rows.push(FaultRow {
        name: "too large",
        path: "/v1/tools/greet",
        body: large.clone(),
        rpc: large,
        expect,
    });
    rows
}

/// What must be equal: code, message and detail, without the reference, which is each exchange's own.
fn essence(code: &Value, message: &Value, detail: &Value) -> Value {
    let mut detail = detail.clone();
    let reference = detail.as_object_mut().and_then(|members| members.remove("ref"));
    assert!(reference.is_some_and(|text| text.is_string()), "{detail}");
    json!([code, message, detail])
}

fn of_rest(response: &Response) -> Value {
    let value = response.message().value;
    essence(&value["error_code"], &value["message"], &value["detail"])
}

fn of_rpc(response: &Response) -> Value {
    let error = response.message().value["error"].clone();
    essence(&error["code"], &error["message"], &error["data"])
}

#[tokio::test]
async fn the_same_failure_is_the_same_on_both_dialects() {
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = Http::raw(&server, Revision::LATEST);
    for FaultRow { name, path, body, rpc, expect: (status, code, reason) } in rows() {
        let rest = client.post(path, &body).await;
        refused(&world, &rest, (status, code, reason));
        let plain = client.post("/rpc", &rpc).await;
        refused(&world, &plain, (200, code, reason));
        assert_eq!(of_rest(&rest), of_rpc(&plain), "{name}");
    }
    let rest = client.post("/v1/tools/greet", "{}").await;
    let errors = json!([{"loc": ["body", "name"], "msg": "field required", "type": "value_error.missing"}]);
    assert_eq!(rest.message().value["detail"]["errors"], errors);
    client.still_works().await;
}

fn with_roles() -> HttpSettings {
    let keys = ["user", "developer", "admin"].iter().fold(Keys::default(), |keys, role| {
        let hash = KeyHash::new(&Secret::new(format!("key-of-{role}")));
        keys.with_hash(Caller::keyholder(role).in_roles([*role]), hash)
    });
    HttpSettings { authenticator: Arc::new(failwell_rest::Authenticator::from(keys)), ..settings() }
}

#[tokio::test]
async fn keys_are_asked_for_on_both_dialects_and_roles_where_they_are_needed() {
    let world = World::new();
    let server = Server::start(&world, with_roles()).await;
    let mut client = Http::raw(&server, Revision::LATEST);
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"list_tools"}"#;
    for (header, reason, message) in [
        (&[][..], "policy/UNAUTHENTICATED", "API key required"),
        (&[("X-API-Key", "nope")], "policy/BAD_CREDENTIALS", "Invalid API key"),
        (&[("Authorization", "Bearer nope")], "policy/BAD_CREDENTIALS", "Invalid API key"),
    ] {
        let rest = client.post_with("/v1/tools/greet", "{}", header).await;
        let seen = refused(&world, &rest, (401, -32000, reason));
        assert_eq!(seen.value["message"], message);
        assert!(rest.header("www-authenticate").is_some_and(|header| header.starts_with("Bearer")));
        let rpc = client.post_with("/rpc", list, header).await;
        refused(&world, &rpc, (200, -32000, reason));
        assert_eq!(of_rest(&rest), of_rpc(&rpc), "{message}");
    }
    for (path, role, allowed) in [
        ("/v1/me", "user", true),
        ("/v1/operations", "user", false),
        ("/v1/operations", "developer", true),
        ("/v1/operations", "admin", true),
        ("/v1/events", "user", false),
        ("/v1/keys", "developer", false),
        ("/v1/keys", "admin", true),
    ] {
        let headers = [("X-API-Key".to_owned(), format!("key-of-{role}"))];
        let response = client.exchange("GET", path, &headers, b"").await;
        if allowed {
            assert_eq!(response.status, 200, "{path} as {role}");
            continue;
        }
        let seen = refused(&world, &response, (403, -32001, "policy/ROLE"));
        assert!(
            seen.value["message"]
                .as_str()
                .is_some_and(|text| text.starts_with("the request requires the role "))
        );
    }
    let me = client
        .exchange("GET", "/v1/me", &[("X-API-Key".to_owned(), "key-of-developer".to_owned())], b"")
        .await;
    assert_eq!(
        me.message().value,
        json!({"name": "key:developer", "role": "developer", "roles": ["developer"]})
    );
}

/// Every path, with a verb that is not allowed and those that are.
const PATHS: &[(&str, &str)] = &[
    ("/rpc", "POST, OPTIONS"),
    ("/v1/tools", "GET, HEAD, OPTIONS"),
    ("/v1/tools/greet", "POST, OPTIONS"),
    ("/v1/approvals", "GET, HEAD, OPTIONS"),
    ("/v1/approvals/x", "GET, HEAD, POST, OPTIONS"),
    ("/v1/me", "GET, HEAD, OPTIONS"),
    ("/v1/sessions", "GET, HEAD, POST, OPTIONS"),
    ("/v1/sessions/x", "GET, HEAD, PUT, DELETE, OPTIONS"),
    ("/v1/sessions/x/heartbeat", "POST, OPTIONS"),
    ("/v1/sessions/x/context/y", "GET, HEAD, PUT, OPTIONS"),
    ("/v1/keys", "GET, HEAD, POST, OPTIONS"),
    ("/v1/keys/x", "DELETE, OPTIONS"),
    ("/v1/operations", "GET, HEAD, OPTIONS"),
    ("/v1/events", "GET, HEAD, OPTIONS"),
    ("/openapi.json", "GET, HEAD, OPTIONS"),
    ("/healthz", "GET, HEAD, OPTIONS"),
    ("/readyz", "GET, HEAD, OPTIONS"),
    ("/metrics", "GET, HEAD, OPTIONS"),
];

#[tokio::test]
async fn every_verb_on_every_path() {
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = Http::raw(&server, Revision::LATEST);
    for (path, allow) in PATHS {
        let allowed: Vec<&str> = allow.split(", ").collect();
        let asked = client.exchange("OPTIONS", path, &[], b"").await;
        assert_eq!((asked.status, asked.header("allow")), (204, Some(*allow)), "{path}");
        for verb in ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"] {
            if allowed.contains(&verb) {
                continue;
            }
            for accept in ["application/json", "application/problem+json"] {
                let headers = [("Accept".to_owned(), accept.to_owned())];
                let response = client.exchange(verb, path, &headers, b"").await;
                refused(&world, &response, (405, -32600, "http/METHOD"));
                assert_eq!(response.header("allow"), Some(*allow), "{verb} {path}");
                assert_eq!(response.header("content-type"), Some(accept), "{verb} {path}");
            }
        }
    }
    for path in
        ["/", "/v1", "/v1/", "/v1/nothing", "/v1/sessions/", "/v1/sessions/x/y", "/v1/keys/a/b", "/rpc/x"]
    {
        for verb in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            let response = client.exchange(verb, path, &[], b"").await;
            let seen = refused(&world, &response, (404, -32601, "http/UNKNOWN_PATH"));
            assert_eq!(judge::no_leak(&seen.text), Ok(()));
        }
    }
    client.still_works().await;
}

#[tokio::test]
async fn a_head_is_the_get_without_its_body() {
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = Http::raw(&server, Revision::LATEST);
    for path in
        ["/v1/tools", "/v1/me", "/healthz", "/openapi.json", "/v1/sessions/none", "/nowhere", "/v1/events"]
    {
        // The body is never sent, so the server must not wait for it.
        let mut wire = crate::client::wire::Wire::connect(server.address).await;
        wire.write(format!("HEAD {path} HTTP/1.1\r\nHost: {}\r\n\r\n", server.address).as_bytes()).await;
        let head = wire.head().await;
        if path == "/v1/events" {
            assert_eq!(head.status, 200);
            continue;
        }
        let get = client.exchange("GET", path, &[], b"").await;
        assert_eq!(head.status, get.status, "{path}");
        assert_eq!(head.header("content-type"), get.header("content-type"), "{path}");
        // The same connection answers the next request at once.
        wire.write(format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", server.address).as_bytes()).await;
        assert_eq!(wire.response().await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn sessions_last_as_long_as_they_should_and_are_their_owners() {
    let world = World::new();
    let server = Server::start(&world, with_roles()).await;
    let mut client = Http::raw(&server, Revision::LATEST);
    let headers = |role: &str| {
        vec![
            ("X-API-Key".to_owned(), format!("key-of-{role}")),
            ("Content-Type".to_owned(), "application/json".to_owned()),
        ]
    };
    let ours = headers("user");
    let opened =
        client.exchange("POST", "/v1/sessions", &ours, br#"{"ttl_s":600,"metadata":{"app":"shop"}}"#).await;
    assert_eq!(opened.status, 201, "{}", String::from_utf8_lossy(&opened.body));
    let session = opened.message().value;
    let place = opened.header("location").expect("a place").to_owned();
    assert_eq!(place, format!("/v1/sessions/{}", session["id"].as_str().expect("an id")));
    assert_eq!((&session["ttl_s"], &session["metadata"]["app"]), (&json!(600), &json!("shop")));
    let item = format!("{place}/context/a%2Fb");
    let put = client.exchange("PUT", &item, &ours, br#"{"value":{"deep":[1,12345678901234567890]}}"#).await;
    assert_eq!(put.message().value["context_keys"], json!(["a/b"]));
    let got = client.exchange("GET", &item, &ours, b"").await;
    assert_eq!(
        String::from_utf8_lossy(&got.body),
        r#"{"key":"a/b","value":{"deep":[1,12345678901234567890]}}"#
    );
    let beat = client.exchange("POST", &format!("{place}/heartbeat"), &ours, b"").await;
    assert!(beat.message().value["expires_ms"].as_i64() >= session["expires_ms"].as_i64());
    let renewed = client.exchange("PUT", &place, &ours, br#"{"ttl_s":30}"#).await.message().value;
    assert_eq!((&renewed["ttl_s"], &renewed["metadata"]["app"]), (&json!(30), &json!("shop")));
    let list = client.exchange("GET", "/v1/sessions", &ours, b"").await.message().value;
    assert_eq!(list["sessions"].as_array().map(Vec::len), Some(1));

    // The session of another caller gets the same response as an unknown one.
    let none = "/v1/sessions/none".to_owned();
    for (headers, place) in [(headers("admin"), &place), (ours.clone(), &none)] {
        for (verb, path, body) in [
            ("GET", place.clone(), &b""[..]),
            ("PUT", place.clone(), b"{}"),
            ("DELETE", place.clone(), b""),
            ("POST", format!("{place}/heartbeat"), b""),
            ("GET", format!("{place}/context/a%2Fb"), b""),
            ("PUT", format!("{place}/context/k"), br#"{"value":1}"#),
        ] {
            let response = client.exchange(verb, &path, &headers, body).await;
            refused(&world, &response, (404, -32800, "server/SESSION_UNKNOWN"));
        }
    }
    let nothing = client.exchange("GET", &format!("{place}/context/none"), &ours, b"").await;
    refused(&world, &nothing, (404, -32601, "server/CONTEXT_UNKNOWN"));
    for body in [r#"{"ttl_s":0}"#, r#"{"ttl_s":"1"}"#, r#"{"tll_s":1}"#, "[]", r#"{"metadata":[]}"#] {
        let response = client.exchange("POST", "/v1/sessions", &ours, body.as_bytes()).await;
        let seen = refused(&world, &response, (422, -32602, "http/INVALID"));
        assert_eq!(seen.value["message"], "Validation Error");
        assert!(seen.value["detail"]["errors"].as_array().is_some_and(|errors| !errors.is_empty()));
    }
    let large = json!({"value": "x".repeat(300_000)}).to_string();
    let response = client.exchange("PUT", &item, &ours, large.as_bytes()).await;
    refused(&world, &response, (413, -32603, "server/SESSION_TOO_LARGE"));
    let short = client.exchange("POST", "/v1/sessions", &ours, br#"{"ttl_s":1}"#).await;
    let short = short.header("location").expect("a place").to_owned();
    let expires = async {
        loop {
            let late = client.exchange("GET", &short, &ours, b"").await;
            if late.status != 200 {
                return late;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    let late = soon("the end of the session", expires).await;
    refused(&world, &late, (404, -32800, "server/SESSION_UNKNOWN"));
    let ended = client.exchange("DELETE", &place, &ours, b"").await;
    assert_eq!((ended.status, ended.body.len()), (204, 0));
    let gone = client.exchange("GET", &place, &ours, b"").await;
    refused(&world, &gone, (404, -32800, "server/SESSION_UNKNOWN"));
}

#[tokio::test]
async fn queries_are_checked_and_keys_need_authentication() {
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = Http::raw(&server, Revision::LATEST);
    for query in ["limit=0", "limit=1001", "limit=abc", "limit=", "failed=perhaps", "limit=-1&failed=1"] {
        let response = client.exchange("GET", &format!("/v1/operations?{query}"), &[], b"").await;
        let seen = refused(&world, &response, (422, -32602, "http/QUERY"));
        assert_eq!(seen.value["detail"]["errors"][0]["loc"][0], "query", "{}", seen.text);
    }
    let fine = client.exchange("GET", "/v1/operations?limit=5&failed=true&utm=x", &[], b"").await;
    assert_eq!(fine.message().value, json!({"operations": []}));
    let made = client.post("/v1/keys", r#"{"name":"ci"}"#).await;
    refused(&world, &made, (409, -32600, "policy/KEYS_OFF"));
    let wrong = client.post("/v1/keys", r#"{"name":"a b","roles":"admin","ttl":1}"#).await;
    let seen = refused(&world, &wrong, (422, -32602, "http/INVALID"));
    assert_eq!(seen.value["detail"]["violations"].as_array().map(Vec::len), Some(3), "{}", seen.text);
}

#[tokio::test]
async fn the_document_describes_every_path() {
    let world = World::new();
    let server = Server::start(&world, with_roles()).await;
    let mut client = Http::raw(&server, Revision::LATEST);
    let stranger = client.exchange("GET", "/openapi.json", &[], b"").await.message().value;
    let key = [("X-API-Key".to_owned(), "key-of-user".to_owned())];
    let document = client.exchange("GET", "/openapi.json", &key, b"").await.message().value;
    assert!(stranger["paths"].get("/v1/tools/greet").is_none(), "tools are for those who may call them");
    assert!(document["paths"]["/v1/tools/greet"]["post"]["responses"]["422"].is_object());
    for (path, allow) in PATHS {
        let template = match *path {
            "/v1/tools/greet" => "/v1/tools/{name}".to_owned(),
            "/v1/sessions/x/context/y" => "/v1/sessions/{id}/context/{key}".to_owned(),
            other => other.replace("/x", "/{id}"),
        };
        let item =
            document["paths"][&template].as_object().unwrap_or_else(|| panic!("{template} is not there"));
        let verbs = allow.split(", ").filter(|verb| !["HEAD", "OPTIONS"].contains(verb));
        for verb in verbs {
            let operation =
                item.get(&verb.to_ascii_lowercase()).unwrap_or_else(|| panic!("{verb} {template}"));
            let responses = operation["responses"].as_object().expect("responses");
            assert!(responses.keys().any(|status| status.starts_with('2')), "{verb} {template}");
            assert!(responses.get("default").is_none(), "every status is named: {verb} {template}");
            if template != "/rpc" {
                let example =
                    responses["500"]["content"]["application/json"]["examples"]["server/PANIC"]["value"]
                        .clone();
                assert_eq!(example["error_code"], -32603, "{verb} {template}");
            }
        }
    }
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(document.pointer(reference).is_some(), "{reference} leads nowhere");
    }
}
