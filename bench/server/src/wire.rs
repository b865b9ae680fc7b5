//! The part of HTTP/1.1 that the servers under test use: bodies with a length or in chunks, and server-sent events.

use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A response, in the buffer of its connection.
pub struct Response<'a> {
    pub status: u16,
    head: &'a str,
    /// The JSON of the body, or of the last event.
    pub body: &'a [u8],
}

impl Response<'_> {
    pub fn header(&self, name: &str) -> Option<&str> {
        header(self.head, name)
    }
}

/// One kept-alive connection.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    unchunked: Vec<u8>,
}

/// The most bytes of one response.
const LARGEST: usize = 1024 * 1024;

enum Extent {
    Length(usize),
    Chunks,
}

impl Connection {
    pub async fn open(address: SocketAddr) -> Result<Connection, String> {
        let stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        Ok(Connection { stream, buffer: Vec::with_capacity(16 * 1024), unchunked: Vec::new() })
    }

    /// Sends a request and reads the whole response to it.
    pub async fn exchange(&mut self, request: &[u8]) -> Result<Response<'_>, String> {
        self.stream.write_all(request).await.map_err(|error| error.to_string())?;
        self.buffer.clear();
        let head = loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                break end + 4;
            }
            self.fill().await?;
        };
        let extent = extent(&self.buffer[..head])?;
        self.unchunked.clear();
        match extent {
            Extent::Length(length) => {
                while self.buffer.len() < head + length {
                    self.fill().await?;
                }
            }
            Extent::Chunks => {
                while !self.unchunk(head)? {
                    self.fill().await?;
                }
            }
        }
        let body = match extent {
            Extent::Length(_) => &self.buffer[head..],
            Extent::Chunks => last_event(&self.unchunked),
        };
        let head = std::str::from_utf8(&self.buffer[..head]).map_err(|error| error.to_string())?;
        let status = head.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0);
        Ok(Response { status, head, body })
    }

    async fn fill(&mut self) -> Result<(), String> {
        let read = self.stream.read_buf(&mut self.buffer).await.map_err(|error| error.to_string())?;
        match read {
            0 => Err("the server closed the connection".to_owned()),
            _ if self.buffer.len() > LARGEST => Err("the response is too large".to_owned()),
            _ => Ok(()),
        }
    }

    /// Joins the chunks of the body. Returns `false` while some are missing.
    fn unchunk(&mut self, head: usize) -> Result<bool, String> {
        self.unchunked.clear();
        let mut rest = &self.buffer[head..];
        loop {
            let Some(line) = find(rest, b"\r\n") else { return Ok(false) };
            let size = std::str::from_utf8(&rest[..line]).unwrap_or_default();
            let size = usize::from_str_radix(size, 16).map_err(|error| format!("{size:?}: {error}"))?;
            let Some(chunk) = rest.get(line + 2..line + 2 + size + 2) else { return Ok(false) };
            if size == 0 {
                return Ok(true);
            }
            self.unchunked.extend_from_slice(&chunk[..size]);
            rest = &rest[line + 2 + size + 2..];
        }
    }
}

fn extent(head: &[u8]) -> Result<Extent, String> {
    let head = std::str::from_utf8(head).map_err(|error| error.to_string())?;
    match (header(head, "content-length"), header(head, "transfer-encoding")) {
        (Some(length), None) => Ok(Extent::Length(length.parse().map_err(|_| "a bad length".to_owned())?)),
        (None, Some(_)) => Ok(Extent::Chunks),
        _ => Ok(Extent::Length(0)),
    }
}

fn header<'a>(head: &'a str, wanted: &str) -> Option<&'a str> {
    head.split("\r\n").skip(1).find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case(wanted).then_some(value.trim())
    })
}

fn last_event(text: &[u8]) -> &[u8] {
    let lines = text.split(|byte| *byte == b'\n');
    let data = lines.filter_map(|line| line.strip_prefix(b"data:"));
    data.map(|data| data.trim_ascii()).rfind(|data| !data.is_empty()).unwrap_or_default()
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}
