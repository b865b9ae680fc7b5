//! Slow clients.

use std::time::{Duration, Instant};

use failwell_controls::Settings;
use failwell_pipeline::PipelineSettings;
use failwell_rpc::Revision;
use failwell_transport::HttpSettings;
use serde_json::json;
use tokio::io::AsyncReadExt;

use crate::client::http::{Http, Server, settings};
use crate::client::wire::{Wire, request};
use crate::flows::refused;
use crate::requests;
use crate::world::{self, World};

/// A valid request, and the offset of its body.
fn good_request(client: &Http) -> (Vec<u8>, usize) {
    let body = requests::good(client.revision, "1");
    let host = client.address.to_string();
    let whole = request("POST", "/mcp", &host, &client.usual(body.as_bytes()), body.as_bytes());
    let at = whole.len() - body.len();
    (whole, at)
}

#[tokio::test]
async fn a_body_that_dribbles_in_is_given_up() {
    for revision in Revision::ALL {
        let world = World::new();
        let quick = HttpSettings { body_deadline: Duration::from_secs(1), ..settings() };
        let server = Server::start(&world, quick).await;
        let mut client = Http::open(&server, revision).await;
        let (whole, at) = good_request(&client);
        let mut wire = Wire::connect(server.address).await;
        let began = Instant::now();
        wire.write(&whole[..at]).await;
        for byte in &whole[at..at + 8] {
            tokio::time::sleep(Duration::from_millis(150)).await;
            wire.write(&[*byte]).await;
        }
        let response = wire.response().await;
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
        refused(&world, &response, (408, -32600, "http/SLOW_BODY"));
        assert!(wire.closes_within(Duration::from_secs(20)).await, "the connection is of no more use");
        client.still_works().await;
    }
}

#[tokio::test]
async fn a_head_that_dribbles_in_is_given_up() {
    let world = World::new();
    let quick = HttpSettings { head_deadline: Duration::from_secs(1), ..settings() };
    let server = Server::start(&world, quick).await;
    let mut wire = Wire::connect(server.address).await;
    wire.write(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-").await;
    let response = wire.response().await;
    let body = String::from_utf8_lossy(&response.body);
    assert!(response.status == 408 && body.contains("http/SLOW_HEAD"), "{body}");
    assert!(wire.closes_within(Duration::from_secs(20)).await);
    Http::open(&server, Revision::LATEST).await.still_works().await;
}

/// The time limit applies to each head, and single bytes do not extend it.
#[tokio::test]
async fn every_head_of_a_connection_has_the_same_time() {
    let world = World::new();
    let deadline = Duration::from_secs(2);
    // Three pauses are longer than the deadline; one alone is not.
    let pause = deadline * 9 / 20;
    let quick = HttpSettings { head_deadline: deadline, ..settings() };
    let server = Server::start(&world, quick).await;
    let client = Http::open(&server, Revision::LATEST).await;
    let (whole, _) = good_request(&client);
    let mut wire = Wire::connect(server.address).await;
    for _ in 0..3 {
        wire.write(&whole).await;
        assert_eq!(wire.response().await.status, 200);
        tokio::time::sleep(pause).await;
    }
    let began = Instant::now();
    let dribble = async {
        for byte in whole.iter().cycle() {
            wire.write(&[*byte]).await;
            if wire.closes_within(Duration::from_millis(300)).await {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), dribble).await.expect("the connection is given up");
    assert!(began.elapsed() > Duration::from_millis(800), "{:?}", began.elapsed());
}

#[tokio::test]
async fn an_answer_may_take_longer_than_a_head() {
    let world = World::new();
    let quick = HttpSettings { head_deadline: Duration::from_millis(500), ..settings() };
    let server = Server::start(&world, quick).await;
    let revision = Revision::LATEST;
    let client = Http::open(&server, revision).await;
    for accept in ["application/json, text/event-stream", "text/event-stream, application/json"] {
        let late = requests::tool(revision, "5", "suite_late", json!({"ms": 1_500}));
        let mut headers = client.usual(late.as_bytes());
        headers.retain(|(name, _)| name != "Accept");
        headers.push(("Accept".to_owned(), accept.to_owned()));
        let mut wire = Wire::connect(server.address).await;
        wire.write(&request("POST", "/mcp", &server.address.to_string(), &headers, late.as_bytes())).await;
        let response = wire.response().await;
        assert_eq!(response.is_events(), accept.starts_with("text"));
        assert_eq!(response.message().first_text(), "1500 ms later");
        wire.write(&good_request(&client).0).await;
        assert_eq!(wire.response().await.status, 200, "{accept}");
    }
    assert!(world.journal().is_empty());
}

/// The time limit of the next head begins when the client has received the last response, not when it was ready.
#[tokio::test]
async fn an_answer_may_be_read_slowly() {
    const LARGE: usize = 14 << 20;
    let bounds = PipelineSettings { largest_answer: 16 << 20, ..world::bounds() };
    let world = World::with(Settings { bounds, ..world::settings() });
    let quick = HttpSettings { head_deadline: Duration::from_millis(500), ..settings() };
    let server = Server::start(&world, quick).await;
    let revision = Revision::LATEST;
    let client = Http::open(&server, revision).await;
    let large = requests::tool(revision, "5", "suite_big", json!({"bytes": LARGE}));
    let headers = client.usual(large.as_bytes());
    let mut wire = Wire::connect(server.address).await;
    wire.write(&request("POST", "/mcp", &server.address.to_string(), &headers, large.as_bytes())).await;
    let head = wire.head().await;
    let length: usize =
        head.header("content-length").and_then(|length| length.parse().ok()).expect("a length");
    let mut body = vec![0; length];
    for piece in body.chunks_mut(128 << 10) {
        tokio::time::sleep(Duration::from_millis(15)).await;
        wire.stream.read_exact(piece).await.expect("all of the answer");
    }
    assert!(length > LARGE && body.ends_with(b"}"));
    wire.write(&good_request(&client).0).await;
    assert_eq!(wire.response().await.status, 200, "the next head has its whole time");
}

#[tokio::test]
async fn a_body_that_breaks_off_harms_no_other_request() {
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = Http::open(&server, Revision::LATEST).await;
    let (whole, _) = good_request(&client);
    let mut wire = Wire::connect(server.address).await;
    wire.write(&whole[..whole.len() - 10]).await;
    drop(wire);
    client.still_works().await;
}

#[tokio::test]
async fn a_body_without_a_length_has_a_cap_too() {
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = Http::open(&server, Revision::LATEST).await;
    let mut headers = client.usual(b"");
    headers.push(("Transfer-Encoding".to_owned(), "chunked".to_owned()));
    headers.push(("Content-Length".to_owned(), String::new()));
    let head = request("POST", "/mcp", &server.address.to_string(), &headers, b"");
    let head = String::from_utf8(head).expect("text").replace("Content-Length: \r\n", "");
    let mut wire = Wire::connect(server.address).await;
    wire.write(head.as_bytes()).await;
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000)).into_bytes();
    for _ in 0..40 {
        wire.write(&chunk).await;
    }
    wire.write(b"0\r\n\r\n").await;
    refused(&world, &wire.response().await, (413, 1413, "http/TOO_LARGE"));
    client.still_works().await;
}

#[tokio::test]
async fn a_client_that_expects_100_continue_is_answered_at_once() {
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = Http::open(&server, Revision::LATEST).await;
    let mut headers = client.usual(b"");
    headers.push(("Expect".to_owned(), "100-continue".to_owned()));
    headers.push(("Content-Length".to_owned(), "1000000000".to_owned()));
    let mut wire = Wire::connect(server.address).await;
    wire.write(&request("POST", "/mcp", &server.address.to_string(), &headers, b"")).await;
    refused(&world, &wire.response().await, (413, 1413, "http/TOO_LARGE"));
    client.still_works().await;
}
