//! A connection over streamable HTTP: one socket per request, a session id when the server gives one.

use std::time::Duration;

use serde_json::Value;

use super::exchange::Exchange;
use super::message::Message;
use super::wire::address::ServerAddress;
use super::wire::dial::Trust;
use super::wire::http::{Request, send};
use super::wire::response::Response;
use super::wire::sse;
use super::wire::transcript::Transcript;
use super::{HeaderEdit, LivenessCheck, Patience, Transmission};
use crate::revision::Revision;

const SHOWN_HEADERS: [&str; 5] =
    ["content-type", "mcp-session-id", "mcp-protocol-version", "www-authenticate", "allow"];

/// A connection to a server over HTTP.
#[derive(Clone)]
pub(crate) struct HttpConnection {
    pub(crate) address: ServerAddress,
    pub(crate) revision: Revision,
    pub(crate) session: Option<String>,
    pub(crate) wait: Duration,
    extra: Vec<(String, String)>,
    tape: Transcript,
    trust: Trust,
}

impl HttpConnection {
    pub(crate) fn new(
        address: ServerAddress,
        extra: Vec<(String, String)>,
        revision: Revision,
        wait: Duration,
        tape: Transcript,
        trust: Trust,
    ) -> Self {
        Self { address, revision, session: None, wait, extra, tape, trust }
    }

    /// Posts, and reads the answer whether it comes as JSON or as events.
    pub(crate) async fn exchange(&mut self, shot: &Transmission) -> Exchange {
        let headers = self.headers(shot);
        let path = shot.path.unwrap_or(&self.address.path);
        let request =
            Request { method: shot.verb, path, headers: &headers, body: &shot.body, pace: shot.pace };
        let wait =
            if shot.patience == Patience::Settle { self.wait.min(Duration::from_secs(3)) } else { self.wait };
        let received = send(&self.address, &self.trust, &request, wait, |response| {
            is_answered(response, shot.id.as_deref())
        })
        .await;
        let mut exchange = Exchange::silent(self.revision, shown_request(&request, &self.extra));
        exchange.id.clone_from(&shot.id);
        exchange.trouble = received.trouble;
        if let Some(response) = received.response {
            if is_initialize(&shot.body) {
                self.session = response.header("mcp-session-id").map(str::to_owned).or(self.session.take());
            }
            exchange.got = shown_response(&response);
            exchange.messages = self.read(&response);
            exchange.response = Some(response);
        }
        exchange
    }

    fn read(&self, response: &Response) -> Vec<Message> {
        if response.is_event_stream() {
            let events = sse::events(&response.body);
            events.iter().for_each(|event| self.tape.record(event));
            return events.iter().filter_map(|event| Message::read(event)).flatten().collect();
        }
        self.tape.record(&response.body);
        Message::read(&response.body).unwrap_or_default()
    }

    /// The headers of a well-behaved client, edited as the check asks.
    fn headers(&self, shot: &Transmission) -> Vec<(String, String)> {
        let mut headers: Vec<(String, String)> = Vec::new();
        let mut set = |name: &str, value: &str| headers.push((name.to_owned(), value.to_owned()));
        set("Accept", "application/json, text/event-stream");
        if shot.verb == "POST" || shot.verb == "PUT" {
            set("Content-Type", "application/json");
        }
        if self.revision.is_modern() {
            set("MCP-Protocol-Version", self.revision.date());
            for (name, value) in mirrored(&shot.body) {
                set(name, &value);
            }
        } else if let Some(session) = &self.session {
            set("Mcp-Session-Id", session);
        }
        if !self.revision.is_modern() && self.revision >= Revision::June2025 && !is_initialize(&shot.body) {
            set("MCP-Protocol-Version", self.revision.date());
        }
        headers.extend(self.extra.iter().cloned());
        for edit in &shot.edits {
            let (HeaderEdit::Set(name, _) | HeaderEdit::Drop(name)) = edit;
            headers.retain(|(key, _)| !key.eq_ignore_ascii_case(name));
            if let HeaderEdit::Set(name, value) = edit {
                headers.push(((*name).to_owned(), (*value).to_owned()));
            }
        }
        headers
    }

    /// Asks for a sign of life over a new socket.
    pub(crate) async fn pulse(&mut self, body: String, id: &str) -> LivenessCheck {
        let exchange = self.exchange(&Transmission::request(body, id)).await;
        let alive = exchange.messages.iter().any(|message| message.has_id(id) && message.result().is_some());
        let trouble = match (alive, exchange.trouble, exchange.response) {
            (true, ..) => None,
            (false, Some(why), _) => Some(format!("the server no longer answers: {why}")),
            (false, None, response) => Some(format!(
                "the server no longer answers as before (HTTP {})",
                response.map_or(0, |response| response.status)
            )),
        };
        LivenessCheck { trouble, late: Vec::new() }
    }
}

fn is_initialize(body: &[u8]) -> bool {
    body.get(..300).unwrap_or(body).windows(12).any(|part| part == b"\"initialize\"")
}

/// Whether an event stream already holds the answer; a JSON body is read to its end.
fn is_answered(response: &Response, id: Option<&str>) -> bool {
    response.is_event_stream()
        && sse::events(&response.body).iter().filter_map(|event| Message::read(event)).flatten().any(
            |message| message.is_answer() && (message.has_no_id() || id.is_some_and(|id| message.has_id(id))),
        )
}

/// The headers of 2026-07-28 that repeat what the body says.
fn mirrored(body: &[u8]) -> Vec<(&'static str, String)> {
    let Ok(body) = serde_json::from_slice::<Value>(body) else {
        return vec![("Mcp-Method", "tools/list".to_owned())];
    };
    let method = body.get("method").and_then(Value::as_str);
    let params = body.get("params");
    let name = match method {
        Some("tools/call" | "prompts/get") => params.and_then(|params| params.get("name")),
        Some("resources/read") => params.and_then(|params| params.get("uri")),
        _ => None,
    };
    let printable = |text: &&str| text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let method = method.filter(printable).map(|text| ("Mcp-Method", text.to_owned()));
    let name = name.and_then(Value::as_str).filter(printable).map(|text| ("Mcp-Name", text.to_owned()));
    method.into_iter().chain(name).collect()
}

/// The request as the report shows it; headers the person added may be credentials and keep their values.
fn shown_request(request: &Request<'_>, hidden: &[(String, String)]) -> Vec<u8> {
    let mut shown = format!("{} {}\n", request.method, request.path);
    for (name, value) in request.headers {
        let value = if hidden.iter().any(|(key, _)| key == name) { "…" } else { value };
        shown.push_str(&format!("{name}: {value}\n"));
    }
    shown.push('\n');
    let body = request.body.get(..64 * 1024).unwrap_or(request.body);
    [shown.as_bytes(), body].concat()
}

fn shown_response(response: &Response) -> Vec<u8> {
    let mut shown = format!("HTTP {}\n", response.status);
    for (name, value) in &response.headers {
        if SHOWN_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
            shown.push_str(&format!("{name}: {value}\n"));
        }
    }
    shown.push('\n');
    [shown.as_bytes(), response.body.get(..64 * 1024).unwrap_or(&response.body)].concat()
}
