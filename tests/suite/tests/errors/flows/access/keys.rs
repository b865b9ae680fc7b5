//! Missing and wrong keys, and rate limits.

use std::sync::Arc;

use failwell_controls::{RateLimiter, Settings};
use failwell_fault::Secret;
use failwell_policy::{Allowance, Keys, Limits, Rate};
use failwell_rpc::Revision;
use failwell_transport::HttpSettings;
use serde_json::{Value, json};

use crate::client::http::{Http, Server, settings};
use crate::client::stdio::Stdio;
use crate::flows::refused;
use crate::requests;
use crate::world::{self, World};

fn locked() -> HttpSettings {
    let keys = Keys::default().with("ci", &Secret::new("the-right-key".to_owned()));
    HttpSettings { authenticator: Arc::new(failwell_rest::Authenticator::from(keys)), ..settings() }
}

/// A header, and the name of its defect.
const WRONG: &[(&str, &str, &str)] = &[
    ("Authorization", "", "policy/UNAUTHENTICATED"),
    ("Authorization", "Basic dGhlLXJpZ2h0LWtleQ==", "policy/UNAUTHENTICATED"),
    ("Authorization", "Bearer the-wrong-key", "policy/BAD_CREDENTIALS"),
    ("X-API-Key", "the-wrong-key", "policy/BAD_CREDENTIALS"),
];

#[tokio::test]
async fn a_key_is_needed_and_must_be_right() {
    for revision in Revision::ALL {
        let world = World::new();
        let server = Server::start(&world, locked()).await;
        let mut client = Http::raw(&server, revision);
        for (header, value, reason) in WRONG {
            let body = requests::initialize(revision, "1");
            let response = client.post_with("/mcp", body, &[(header, value)]).await;
            let seen = refused(&world, &response, (401, 1401, reason));
            let challenge = response.header("www-authenticate").unwrap_or_default();
            assert!(challenge.starts_with("Bearer"), "{challenge}");
            assert!(!seen.text.contains("the-wrong-key"), "{}", seen.text);
        }
        Http::with_key(&server, revision, "the-right-key").await.still_works().await;
        let lines = Value::Array(world.journal()).to_string();
        assert!(lines.contains("\"security\":true") && !lines.contains("the-wrong-key"), "{lines}");
    }
}

#[tokio::test]
async fn the_plain_dialects_ask_for_it_too() {
    let world = World::new();
    let server = Server::start(&world, locked()).await;
    let mut client = Http::raw(&server, Revision::LATEST);
    let missing = client.post("/v1/tools/greet", r#"{"name":"x"}"#).await;
    let seen = refused(&world, &missing, (401, -32000, "policy/UNAUTHENTICATED"));
    assert_eq!(seen.value["message"], "API key required");
    assert!(missing.header("www-authenticate").is_some());
    let wrong = client.post_with("/v1/tools/greet", "{}", &[("X-API-Key", "no")]).await;
    let seen = refused(&world, &wrong, (401, -32000, "policy/BAD_CREDENTIALS"));
    assert_eq!(seen.value["message"], "Invalid API key");
    let rpc = client.post("/rpc", r#"{"jsonrpc":"2.0","id":1,"method":"list_tools"}"#).await;
    refused(&world, &rpc, (200, -32000, "policy/UNAUTHENTICATED"));
    let health = client.exchange("GET", "/healthz", &[], b"").await;
    assert_eq!(health.status, 200, "no credentials are needed for health");
}

/// A burst of three, then one every two seconds.
fn slow_lane() -> World {
    let rate = Rate { per_second: 0.5, burst: 3.0 };
    let default = Allowance { rate: Some(rate), concurrency: None };
    let rate_limiter = Arc::new(RateLimiter::new(Limits { default, ..Limits::default() }));
    World::with(Settings { rate_limiter, ..world::settings() })
}

#[tokio::test]
async fn too_many_requests_get_a_retry_time() {
    for revision in Revision::ALL {
        let world = slow_lane();
        let server = Server::start(&world, settings()).await;
        let mut client = Http::open(&server, revision).await;
        let mut response = client.post("/mcp", requests::good(revision, "7")).await;
        while response.status == 200 {
            response = client.post("/mcp", requests::good(revision, "7")).await;
        }
        let seen = refused(&world, &response, (429, 1429, "policy/RATE_LIMITED"));
        let wait: u64 = response.header("retry-after").and_then(|value| value.parse().ok()).expect("seconds");
        assert!((1..=2).contains(&wait), "{wait}");
        assert_eq!(seen.id.as_deref(), Some("7"));
        assert_eq!(seen.value["error"]["data"]["retry"], "after_ms", "{}", seen.text);

        let rest = client.post("/v1/tools/greet", json!({"name": "x"}).to_string()).await;
        refused(&world, &rest, (429, -32603, "policy/RATE_LIMITED"));
        assert!(rest.header("retry-after").is_some());
    }
}

#[tokio::test]
async fn over_stdio_the_limit_is_an_error_like_others() {
    for revision in Revision::ALL {
        let world = slow_lane();
        let mut client = Stdio::open(&world, revision).await;
        let mut answered = 0;
        let refusal = loop {
            client.send(requests::good(revision, "7")).await;
            let seen = client.next().await;
            if seen.code().is_some() {
                break seen;
            }
            answered += 1;
        };
        assert_eq!((refusal.code(), refusal.reason()), (Some(1429), "policy/RATE_LIMITED"));
        assert!((2..=3).contains(&answered), "{answered}");
    }
}
