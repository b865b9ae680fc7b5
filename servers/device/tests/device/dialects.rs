//! Failures over REST and `/rpc` show what they show over MCP: the picture, the nearest elements, the alert, the steps.

use std::net::SocketAddr;
use std::time::Duration;

use failwell_transport::{HttpSettings, serve_http};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::emulated_driver::{Act, EmulatedDriver};
use crate::talk::{World, phone, settings};

/// Timeout of one exchange, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);
const ALERT: &str = "Delete everything?";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Rest,
    Problem,
    Rpc,
}

/// The server behind a listener of its own.
struct Server {
    address: SocketAddr,
    _stop: DropGuard,
}

impl Server {
    async fn start(world: &World) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        tokio::spawn(serve_http(world.pipeline.clone(), listener, HttpSettings::default(), stop.clone()));
        Server { address, _stop: stop.drop_guard() }
    }

    /// The status and the body of a call.
    async fn call(&self, dialect: Dialect, tool: &str, arguments: &Value) -> (u16, Value) {
        let (path, accept, body) = match dialect {
            Dialect::Rest => (format!("/v1/tools/{tool}"), "application/json", arguments.clone()),
            Dialect::Problem => (format!("/v1/tools/{tool}"), "application/problem+json", arguments.clone()),
            Dialect::Rpc => {
                let call = json!({"jsonrpc": "2.0", "id": 1, "method": tool, "params": arguments});
                ("/rpc".to_owned(), "application/json", call)
            }
        };
        let (host, body) = (self.address, body.to_string());
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nAccept: {accept}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        let mut response = Vec::new();
        let exchange = async {
            let mut socket = TcpStream::connect(host).await?;
            socket.write_all((head + &body).as_bytes()).await?;
            socket.read_to_end(&mut response).await
        };
        timeout(PATIENCE, exchange).await.expect("in time").expect("a response");
        let response = String::from_utf8(response).expect("text");
        let (head, body) = response.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {response}")))
    }

    /// Calls a tool that must fail, and returns its failure object.
    async fn fails(&self, dialect: Dialect, case: &Case) -> Value {
        let (status, body) = self.call(dialect, case.tool, &case.arguments).await;
        assert_eq!(status, if dialect == Dialect::Rpc { 200 } else { case.status }, "{dialect:?}: {body}");
        let place = match dialect {
            Dialect::Rest => "/detail",
            Dialect::Problem => "",
            Dialect::Rpc => "/error/data",
        };
        body.pointer(place).unwrap_or_else(|| panic!("{dialect:?} has no {place}: {body}")).clone()
    }
}

/// A call that fails.
struct Case {
    tool: &'static str,
    arguments: Value,
    reason: &'static str,
    status: u16,
    /// Places in the structured content, and what is there.
    shown: Vec<(&'static str, Value)>,
    /// The places of links to screenshots.
    pictures: &'static [&'static str],
    /// Texts of the content blocks.
    texts: &'static [&'static str],
}

fn cases() -> Vec<Case> {
    let tap =
        |selector: &str| json!({"tool": "tap_element", "arguments": {"selector": selector, "timeout": 0.2}});
    let unsure = json!({"tool": "assert_element_exists", "arguments": {"selector": "nope", "timeout": 0.1}});
    vec![
        Case {
            tool: "tap_element",
            arguments: json!({"selector": "logn", "timeout": 0.2}),
            reason: "device/NO_SUCH_ELEMENT",
            status: 404,
            shown: vec![
                ("/error", json!("device/NO_SUCH_ELEMENT")),
                ("/nearest/0/accessibility_id", json!("login")),
            ],
            pictures: &["/screenshot"],
            texts: &["nearest elements:", "Log in"],
        },
        Case {
            tool: "tap_element",
            arguments: json!({"selector": "behind the alert"}),
            reason: "device/ALERT_OPEN",
            status: 409,
            shown: vec![("/alert", json!(ALERT))],
            pictures: &["/screenshot"],
            texts: &["the alert says:", ALERT],
        },
        Case {
            tool: "run_steps",
            arguments: json!({"steps": [tap("login"), unsure, tap("logn"), tap("cancel")]}),
            reason: "device/STEP_FAILED",
            status: 409,
            shown: vec![
                ("/passed", json!(1)),
                ("/failed", json!(1)),
                ("/broken", json!(1)),
                ("/skipped", json!(1)),
                ("/steps/0/verdict", json!("passed")),
                ("/steps/1/result/holds", json!(false)),
                ("/steps/2/error/reason", json!("device/NO_SUCH_ELEMENT")),
                ("/steps/2/error/nearest/0/accessibility_id", json!("login")),
            ],
            pictures: &["/steps/1/result/screenshot", "/steps/2/error/screenshot"],
            texts: &[
                "3. tap_element: broken: ",
                "1 passed, 1 failed, 1 broken, 1 not tried",
                "nearest elements:",
            ],
        },
        Case {
            tool: "run_steps",
            arguments: json!({"steps": [tap("behind the alert")]}),
            reason: "device/STEP_FAILED",
            status: 409,
            shown: vec![
                ("/steps/0/error/reason", json!("device/ALERT_OPEN")),
                ("/steps/0/error/alert", json!(ALERT)),
            ],
            pictures: &["/steps/0/error/screenshot"],
            texts: &["the alert says:", ALERT],
        },
    ]
}

#[tokio::test]
async fn a_failure_shows_the_same_over_rest_and_rpc() {
    let driver = EmulatedDriver::start().await;
    driver.when(|command, body| match command.rsplit_once('/') {
        _ if command.ends_with("/alert/text") => Some(Act::Value(json!(ALERT))),
        Some((_, "element")) if body["value"] == "behind the alert" => {
            Some(Act::Error(500, "unexpected alert open"))
        }
        _ => None,
    });
    let world = World::new(settings(vec![phone(&driver.url)]));
    let server = Server::start(&world).await;
    let (status, begun) = server.call(Dialect::Rest, "start_session", &json!({})).await;
    assert_eq!(status, 200, "{begun}");
    for case in cases() {
        for dialect in [Dialect::Rest, Dialect::Problem, Dialect::Rpc] {
            let failure = server.fails(dialect, &case).await;
            let place = format!("{} {} over {dialect:?}", case.tool, case.arguments);
            assert_eq!(failure["reason"], case.reason, "{place}: {failure}");
            let (object, blocks) = (&failure["result"]["structuredContent"], &failure["result"]["content"]);
            for (pointer, expected) in &case.shown {
                assert_eq!(object.pointer(pointer), Some(expected), "{place}, {pointer}: {object}");
            }
            for pointer in case.pictures {
                let picture = object.pointer(pointer).unwrap_or(&Value::Null);
                let is_linked =
                    |block: &Value| block["type"] == "resource_link" && block["uri"] == picture["uri"];
                assert_eq!(picture["media_type"], "image/png", "{place}, {pointer}: {object}");
                assert!(blocks.as_array().unwrap().iter().any(is_linked), "{place}, {pointer}: {blocks}");
            }
            for text in case.texts {
                let has = |block: &Value| {
                    block["text"].as_str().is_some_and(|block_text| block_text.contains(text))
                };
                assert!(blocks.as_array().unwrap().iter().any(has), "{place}, {text}: {blocks}");
            }
        }
    }
}
