//! A connection to the examined server in one revision: open, speak, ask whether it still lives.

pub(crate) mod exchange;
pub(crate) mod http;
pub(crate) mod message;
pub(crate) mod stdio;
pub(crate) mod wire;

use std::time::Duration;

use serde_json::{Value, json};

use crate::connection::exchange::Exchange;
use crate::connection::message::Message;
use crate::connection::wire::http::SendPace;
use crate::revision::Revision;

/// A change to the headers a well-behaved client would send.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HeaderEdit {
    /// Send this value instead, or in addition.
    Set(&'static str, &'static str),
    /// Leave it out.
    Drop(&'static str),
}

/// How long to wait for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Garbage and notifications: silence is plausible, so wait a little and look again later.
    Settle,
    /// A request that needs no work.
    Normal,
    /// A tool may be at work.
    Full,
}

/// One message or body to send.
#[derive(Clone, Debug)]
pub(crate) struct Transmission {
    pub(crate) body: Vec<u8>,
    /// The id the answer must carry.
    pub(crate) id: Option<String>,
    pub(crate) patience: Patience,
    pub(crate) verb: &'static str,
    pub(crate) path: Option<&'static str>,
    pub(crate) edits: Vec<HeaderEdit>,
    pub(crate) pace: SendPace,
}

impl Transmission {
    /// A request with this id, answered when the server gets to it.
    pub(crate) fn request(body: String, id: &str) -> Self {
        Self { id: Some(id.to_owned()), ..Self::raw(body.into_bytes(), Patience::Full) }
    }

    /// Bytes that no particular answer belongs to.
    pub(crate) fn raw(body: Vec<u8>, patience: Patience) -> Self {
        Self { body, id: None, patience, verb: "POST", path: None, edits: Vec::new(), pace: SendPace::Whole }
    }
}

/// Whether the server answered after a check.
pub(crate) struct LivenessCheck {
    /// Why it is thought dead; `None` when it lives.
    pub(crate) trouble: Option<String>,
    /// Messages that belong to the check before.
    pub(crate) late: Vec<(Vec<u8>, Message)>,
}

pub(crate) enum Connection {
    Stdio(stdio::StdioConnection),
    Http(http::HttpConnection),
}

impl Connection {
    pub(crate) fn revision(&self) -> Revision {
        match self {
            Self::Stdio(link) => link.revision,
            Self::Http(link) => link.revision,
        }
    }

    pub(crate) fn set_revision(&mut self, revision: Revision) {
        match self {
            Self::Stdio(link) => link.revision = revision,
            Self::Http(link) => link.revision = revision,
        }
    }

    /// Sends and listens.
    pub(crate) async fn exchange(&mut self, shot: &Transmission) -> Exchange {
        match self {
            Self::Stdio(link) => link.exchange(shot).await,
            Self::Http(link) => link.exchange(shot).await,
        }
    }

    /// Makes a request and gives its result; the error says what happened instead.
    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Result<Value, String> {
        let id = fresh_id("call");
        let exchange =
            self.exchange(&Transmission::request(request(&id, method, params, self.revision()), &id)).await;
        let answer = exchange.answers().into_iter().next().map(|message| message.value.clone());
        match answer {
            Some(value) => match value.get("result") {
                Some(result) => Ok(result.clone()),
                None => Err(format!("{}", value.get("error").unwrap_or(&Value::Null))),
            },
            None => Err(exchange.trouble.unwrap_or_else(|| match exchange.response {
                Some(response) => format!("HTTP {} without a result", response.status),
                None => "no answer".to_owned(),
            })),
        }
    }

    /// Begins a session; gives the result of `initialize`.
    pub(crate) async fn initialize(&mut self, revision: Revision) -> Result<Value, String> {
        self.set_revision(revision);
        let result = self.call("initialize", initialize_params(revision.date())).await?;
        let spoken = result.get("protocolVersion").and_then(Value::as_str).and_then(Revision::from_date);
        if let Some(spoken) = spoken {
            self.set_revision(spoken);
        }
        let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
        match self {
            Self::Stdio(link) => link.write_line(note.as_bytes()).await,
            Self::Http(link) => {
                link.exchange(&Transmission::raw(note.into_bytes(), Patience::Settle)).await;
            }
        }
        Ok(result)
    }

    /// Asks for a sign of life, then lingers for answers that come late.
    pub(crate) async fn pulse(&mut self, linger: Duration) -> LivenessCheck {
        let id = fresh_id("pulse");
        let method = if self.revision().is_modern() { "server/discover" } else { "ping" };
        let body = request(&id, method, json!({}), self.revision());
        match self {
            Self::Stdio(link) => link.pulse(body, &id, linger).await,
            Self::Http(link) => link.pulse(body, &id).await,
        }
    }
}

/// Parameters of a plain `initialize`.
pub(crate) fn initialize_params(date: &str) -> Value {
    json!({"protocolVersion": date, "capabilities": {}, "clientInfo": client_info()})
}

fn client_info() -> Value {
    json!({"name": "failwell-probe", "version": env!("CARGO_PKG_VERSION")})
}

/// The `_meta` a client of this revision puts in every request.
pub(crate) fn meta(revision: Revision) -> Value {
    if !revision.is_modern() {
        return json!({});
    }
    json!({
        "io.modelcontextprotocol/protocolVersion": revision.date(),
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": client_info(),
    })
}

/// A well-formed request; `id` is already JSON.
pub(crate) fn request(id: &str, method: &str, mut params: Value, revision: Revision) -> String {
    if let (true, Some(map)) = (revision.is_modern(), params.as_object_mut()) {
        map.insert("_meta".to_owned(), meta(revision));
    }
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{},"params":{params}}}"#, Value::from(method))
}

/// An id nothing else of this process has, already JSON; answers that carry one belong to a request of ours.
pub(crate) fn fresh_id(kind: &str) -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1000);
    format!("\"fw-{kind}-{}\"", NEXT.fetch_add(1, Ordering::Relaxed))
}
