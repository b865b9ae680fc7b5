//! The entry points, for a client with any number of pending requests.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

use failwell_rpc::{Era, Revision};
use failwell_suite::client::requests;
use failwell_suite::client::wire::{Response, Wire, request};
use failwell_suite::program::Program;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryPoint {
    Stdio,
    Http,
    Rest,
    Problem,
    Rpc,
}

impl EntryPoint {
    /// The entry points without MCP.
    pub(crate) const PLAIN: [EntryPoint; 3] = [EntryPoint::Rest, EntryPoint::Problem, EntryPoint::Rpc];

    pub(crate) fn name(self) -> &'static str {
        match self {
            EntryPoint::Stdio => "stdio",
            EntryPoint::Http => "http",
            EntryPoint::Rest => "rest",
            EntryPoint::Problem => "rest, application/problem+json",
            EntryPoint::Rpc => "rpc",
        }
    }
}

/// A client at one of the entry points.
pub(crate) enum Client<'a> {
    Stdio(&'a mut Program),
    Http(HttpClient),
    Plain(SocketAddr, EntryPoint),
}

impl Client<'_> {
    /// Sends a message without waiting for its response.
    pub(crate) async fn start(&mut self, message: &[u8]) {
        match self {
            Client::Stdio(program) => {
                let (input, _) = program.pipes();
                let input = input.as_mut().expect("the input is open");
                // A program that exited has reported the reason before.
                let _ = input.write_all(message).await;
                let _ = input.write_all(b"\n").await;
            }
            Client::Http(http) => http.start(message),
            Client::Plain(..) => panic!("there is no MCP here"),
        }
    }

    /// Calls a tool by its name at an entry point without MCP.
    pub(crate) async fn call_plainly(&self, name: &str, arguments: &str) -> Option<String> {
        let Client::Plain(address, entry_point) = self else { return None };
        let named = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{name}","params":{arguments}}}"#);
        let by_path = format!("/v1/tools/{name}");
        let (path, accept, body) = match entry_point {
            EntryPoint::Rpc => ("/rpc", "application/json", named.as_str()),
            EntryPoint::Problem => (by_path.as_str(), "application/problem+json", arguments),
            _ => (by_path.as_str(), "application/json", arguments),
        };
        let headers = [("Content-Type", "application/json"), ("Accept", accept)];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut wire = Wire::connect(*address).await;
        wire.write(&request("POST", path, &address.to_string(), &headers, body.as_bytes())).await;
        Some(shown(&wire.response().await))
    }

    /// The next message; `None` after this time.
    pub(crate) async fn hear(&mut self, patience: Duration) -> Option<String> {
        match self {
            Client::Stdio(program) => {
                let (_, output) = program.pipes();
                let line = tokio::time::timeout(patience, output.next_line()).await.ok()?;
                line.expect("readable")
            }
            Client::Http(http) => {
                let response = tokio::time::timeout(patience, http.responses.recv()).await.ok()??;
                http.session = response.header("mcp-session-id").map(str::to_owned).or(http.session.take());
                Some(shown(&response))
            }
            Client::Plain(..) => None,
        }
    }

    /// Sends a message that has no answer. Over HTTP its acceptance is one.
    pub(crate) async fn tell(&mut self, message: &[u8], patience: Duration) -> Option<String> {
        self.start(message).await;
        match self {
            Client::Stdio(_) | Client::Plain(..) => None,
            Client::Http(_) => self.hear(patience).await,
        }
    }

    /// Closes the connection of a request, if this entry point and revision cancel requests that way.
    pub(crate) fn hang_up_on(&mut self, id: &str) -> bool {
        match self {
            Client::Http(http) if http.revision.era() == Era::Modern => {
                let running = http.running.remove(id);
                running.is_some_and(|exchange| {
                    exchange.abort();
                    true
                })
            }
            _ => false,
        }
    }
}

/// Each request on a connection of its own.
pub(crate) struct HttpClient {
    address: SocketAddr,
    revision: Revision,
    session: Option<String>,
    running: HashMap<String, JoinHandle<()>>,
    sender: mpsc::UnboundedSender<Response>,
    responses: mpsc::UnboundedReceiver<Response>,
}

impl HttpClient {
    pub(crate) fn new(address: SocketAddr, revision: Revision) -> HttpClient {
        let (sender, responses) = mpsc::unbounded_channel();
        HttpClient { address, revision, session: None, running: HashMap::new(), sender, responses }
    }

    fn start(&mut self, message: &[u8]) {
        let mut headers = requests::headers(message, self.revision);
        let mut put = |name: &str, value: &str| headers.push((name.to_owned(), value.to_owned()));
        put("Content-Type", "application/json");
        put("Accept", "application/json, text/event-stream");
        if let Some(session) = &self.session {
            put("Mcp-Session-Id", session);
        }
        let bytes = request("POST", "/mcp", &self.address.to_string(), &headers, message);
        let (address, sender) = (self.address, self.sender.clone());
        let exchange = tokio::spawn(async move {
            let mut wire = Wire::connect(address).await;
            wire.write(&bytes).await;
            let _ = sender.send(wire.response().await);
        });
        let message: Value = serde_json::from_slice(message).unwrap_or_default();
        if let Some(id) = message.get("id") {
            self.running.insert(id.to_string(), exchange);
        }
    }
}

fn shown(response: &Response) -> String {
    let body = String::from_utf8_lossy(&response.body);
    let status = response.status;
    if response.is_events() {
        let data: Vec<&str> =
            body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim).collect();
        return format!("{status} events {}", data.join(" "));
    }
    format!("{status} {body}").trim_end().to_owned()
}
