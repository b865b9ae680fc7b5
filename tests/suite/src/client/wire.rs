//! HTTP/1.1 as bytes.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::received_message::ReceivedMessage;
use super::soon;

/// One TCP connection.
pub struct Wire {
    /// Received bytes that are not parsed yet.
    pub stream: BufReader<TcpStream>,
}

/// An HTTP response. The body of an event stream ends at its end or at the response to the request.
#[derive(Debug, Default)]
pub struct Response {
    pub status: u16,
    /// Its headers, in order.
    pub headers: Vec<(String, String)>,
    /// Its body, without the framing.
    pub body: Vec<u8>,
}

impl Response {
    /// The first header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// Whether the body is an event stream.
    pub fn is_events(&self) -> bool {
        self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"))
    }

    /// Every message in the body: one document, or the data of each event.
    pub fn messages(&self) -> Result<Vec<ReceivedMessage>, String> {
        if !self.is_events() {
            return if self.body.is_empty() {
                Ok(Vec::new())
            } else {
                Ok(vec![ReceivedMessage::read(&self.body)?])
            };
        }
        let text = String::from_utf8_lossy(&self.body);
        let data = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        data.filter(|data| !data.is_empty()).map(|data| ReceivedMessage::read(data.as_bytes())).collect()
    }

    /// The one message there is.
    pub fn message(&self) -> ReceivedMessage {
        let mut messages = self.messages().expect("messages");
        messages.retain(|seen| seen.value.get("method").is_none());
        assert_eq!(messages.len(), 1, "one message: {} {}", self.status, String::from_utf8_lossy(&self.body));
        messages.remove(0)
    }
}

impl Wire {
    pub async fn connect(address: std::net::SocketAddr) -> Wire {
        let stream = soon("connecting", TcpStream::connect(address)).await.expect("the server listens");
        Wire { stream: BufReader::new(stream) }
    }

    /// Sends bytes.
    pub async fn write(&mut self, bytes: &[u8]) {
        // A server that refuses a request may close the connection before it has read all of it.
        let _ = soon("sending", self.stream.write_all(bytes)).await;
    }

    /// The head of the next response, without its body.
    pub async fn head(&mut self) -> Response {
        let status = self.line().await;
        let status = status.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status line");
        let mut headers = Vec::new();
        loop {
            let line = self.line().await;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_owned(), value.trim().to_owned()));
        }
        Response { status, headers, body: Vec::new() }
    }

    /// The whole response.
    pub async fn response(&mut self) -> Response {
        let mut response = self.head().await;
        if let Some(length) = response.header("content-length") {
            let mut body = vec![0; length.parse().expect("a length")];
            soon("the body", self.stream.read_exact(&mut body)).await.expect("the whole body");
            response.body = body;
        } else if response.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = self.chunk().await {
                response.body.extend(chunk);
            }
        }
        response
    }

    /// The next chunk of a body; `None` at its end.
    pub async fn chunk(&mut self) -> Option<Vec<u8>> {
        let line = self.line().await;
        let size = usize::from_str_radix(line.split(';').next().unwrap_or("").trim(), 16).expect("a chunk");
        let mut chunk = vec![0; size + 2];
        soon("a chunk", self.stream.read_exact(&mut chunk)).await.expect("the whole chunk");
        chunk.truncate(size);
        (size > 0).then_some(chunk)
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        soon("a response", self.stream.read_line(&mut line)).await.expect("readable");
        assert!(!line.is_empty(), "the server closed the connection without an answer");
        line.trim_end().to_owned()
    }

    /// Whether the server closes the connection within this time.
    pub async fn closes_within(&mut self, limit: Duration) -> bool {
        let mut rest = Vec::new();
        tokio::time::timeout(limit, self.stream.read_to_end(&mut rest)).await.is_ok()
    }
}

/// A request's bytes. Host and length are added unless they are given.
pub fn request(method: &str, path: &str, host: &str, headers: &[(String, String)], body: &[u8]) -> Vec<u8> {
    let given = |name: &str| headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
    let mut head = format!("{method} {path} HTTP/1.1\r\n");
    if !given("host") {
        head.push_str(&format!("Host: {host}\r\n"));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if !given("content-length") && method != "GET" {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    head.push_str("\r\n");
    [head.as_bytes(), body].concat()
}
