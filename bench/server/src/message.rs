//! The request, and the expected response.

use serde_json::{Value, json};
use std::ops::Range;

/// The protocol era of a client.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// 2026-07-28: no session.
    Modern,
    /// 2025-11-25: a session starts with a handshake.
    Session,
}

/// An echo tool, and the size of its argument.
#[derive(Clone, Copy)]
pub struct Echo {
    pub path: &'static str,
    pub tool: &'static str,
    /// Bytes of the text.
    pub size: usize,
}

/// The placeholder of the request id. It has as many digits as every id.
const PLACE: &str = "99999999";
/// The first request id. All ids have the same length, so that a message is changed in place.
pub const FIRST: u64 = 10_000_000;

/// A message with the places of its request id.
#[derive(Clone)]
pub struct NumberedMessage {
    bytes: Vec<u8>,
    places: Vec<Range<usize>>,
}

impl NumberedMessage {
    fn with_places_of(bytes: Vec<u8>, number: &str) -> NumberedMessage {
        let windows = bytes.windows(number.len()).enumerate();
        let starts = windows.filter(|(_, window)| *window == number.as_bytes()).map(|(start, _)| start);
        let places = starts.map(|start| start..start + number.len()).collect();
        NumberedMessage { bytes, places }
    }

    /// The message with this id.
    pub fn numbered(&mut self, number: u64) -> &[u8] {
        let mut digits = [b'0'; PLACE.len()];
        let mut rest = number;
        for digit in digits.iter_mut().rev() {
            *digit += (rest % 10) as u8;
            rest /= 10;
        }
        for place in &self.places {
            self.bytes[place.clone()].copy_from_slice(&digits);
        }
        &self.bytes
    }

    /// The call of an echo tool.
    pub fn call(echo: Echo, era: Era, session: Option<&str>) -> NumberedMessage {
        let body = call_body(echo, era).to_string();
        NumberedMessage::with_places_of(post(echo.path, echo.tool, era, session, &body), PLACE)
    }

    /// The same call, framed as a line.
    pub fn line(echo: Echo, era: Era) -> NumberedMessage {
        NumberedMessage::with_places_of((call_body(echo, era).to_string() + "\n").into_bytes(), PLACE)
    }

    /// The expected answer, made from one answer that was parsed and checked.
    pub fn answer(echo: Echo, body: Vec<u8>, number: u64) -> Result<NumberedMessage, String> {
        let answer: Value = serde_json::from_slice(&body).map_err(|error| error.to_string())?;
        let (id, number) = (number, number.to_string());
        let right = answer["jsonrpc"] == "2.0"
            && answer["id"] == id
            && answer["result"]["content"][0]["text"] == text(&number, echo.size)
            && answer["result"]["isError"] != true
            && answer.get("error").is_none();
        if right {
            return Ok(NumberedMessage::with_places_of(body, &number));
        }
        let start: String = answer.to_string().chars().take(1_000).collect();
        Err(format!("a wrong answer: {start}"))
    }
}

fn call_body(echo: Echo, era: Era) -> Value {
    let mut params = json!({"name": echo.tool, "arguments": {"text": text(PLACE, echo.size)}});
    if era == Era::Modern {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "0.1.0"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
    }
    let id: u64 = PLACE.parse().unwrap_or_default();
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}
fn text(number: &str, size: usize) -> String {
    const PHRASE: &str = "the quick brown fox jumps over the lazy dog, and the dog does not mind at all. ";
    let text = format!("Message {number}: ");
    let rest = size.saturating_sub(text.len());
    text + &PHRASE.repeat(rest / PHRASE.len() + 1)[..rest]
}

/// The two messages that open a session.
pub fn handshake(path: &str) -> Vec<u8> {
    let client = json!({"name": "bench", "version": "0.1.0"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    post(path, "", Era::Session, None, &body.to_string())
}

pub fn ready(path: &str, session: &str) -> Vec<u8> {
    let body = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    post(path, "", Era::Session, Some(session), &body.to_string())
}

fn post(path: &str, name: &str, era: Era, session: Option<&str>, body: &str) -> Vec<u8> {
    let era = match era {
        Era::Modern => {
            format!("mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: {name}\r\n")
        }
        Era::Session => "mcp-protocol-version: 2025-11-25\r\n".to_owned(),
    };
    let session = session.map(|id| format!("mcp-session-id: {id}\r\n")).unwrap_or_default();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{era}{session}content-length: {}\r\n\r\n",
        body.len()
    );
    (head + body).into_bytes()
}
