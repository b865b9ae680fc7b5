//! An HTTP client for tests of emulators. It is deliberately simple: one connection per request, and no HTTP library
//! that could hide a malformed response.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The time for one exchange, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A response as it arrived.
#[derive(Debug)]
pub struct RawReply {
    /// The HTTP status.
    pub status: u16,
    /// The status line and the headers.
    pub head: String,
    pub body: String,
}

/// Sends a request with a body of this media type, and reads the response until the connection closes. Fails if the
/// connection closes before the announced length has arrived.
pub async fn exchange(
    address: SocketAddr,
    method: &str,
    path: &str,
    media_type: &str,
    body: &str,
) -> io::Result<RawReply> {
    let headers = format!("host: 127.0.0.1\r\ncontent-type: {media_type}");
    exchange_with(address, method, path, &headers, body).await
}

/// The same with these header lines, which must have `Host`.
pub async fn exchange_with(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> io::Result<RawReply> {
    let request = format!(
        "{method} {path} HTTP/1.1\r\n{headers}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let text = timeout(PATIENCE, send(address, &request)).await.map_err(|_| io::ErrorKind::TimedOut)??;
    RawReply::parse(&text).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

async fn send(address: SocketAddr, request: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    Ok(text)
}

impl RawReply {
    /// `None` for a response that was cut off.
    fn parse(text: &str) -> Option<RawReply> {
        let (head, body) = text.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if length.is_some_and(|length| length.parse() != Ok(body.len())) {
            return None;
        }
        Some(RawReply { status, head: head.to_owned(), body: body.to_owned() })
    }
}
