//! One HTTP/1.1 request over its own socket, sent as oddly as a check wants it.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::address::ServerAddress;
use super::dial::{Trust, dial};
use super::response::{Response, ResponseReader};

/// How the body reaches the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SendPace {
    /// All at once.
    #[default]
    Whole,
    /// In small pieces with pauses.
    Dribble,
    /// Half of what was announced, then the socket closes.
    CutShort,
    /// All of it, then the socket closes before the answer.
    HangUp,
}

/// A request with nothing added but `Host`, `Content-Length` and `Connection: close`.
#[derive(Clone, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) headers: &'a [(String, String)],
    pub(crate) body: &'a [u8],
    pub(crate) pace: SendPace,
}

/// The response as far as it was read, or why there was none.
#[derive(Debug, Default)]
pub(crate) struct HttpExchange {
    pub(crate) response: Option<Response>,
    pub(crate) trouble: Option<String>,
}

/// Sends a request and reads until the response ends, `enough` is satisfied or the time is up.
pub(crate) async fn send(
    address: &ServerAddress,
    trust: &Trust,
    request: &Request<'_>,
    wait: Duration,
    enough: impl Fn(&Response) -> bool,
) -> HttpExchange {
    let deadline = Instant::now() + wait;
    let stream = match timeout_at(deadline, dial(address, trust)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return trouble(format!("cannot connect: {error}")),
        Err(_) => return trouble("cannot connect: timed out".to_owned()),
    };
    let head = head(address, request);
    let (mut from, mut to) = tokio::io::split(stream);
    if matches!(request.pace, SendPace::CutShort | SendPace::HangUp) {
        let half = request.body.get(..request.body.len() / 2).unwrap_or_default();
        let body = if request.pace == SendPace::CutShort { half } else { request.body };
        let _ = timeout_at(deadline, write(&mut to, head.as_bytes(), body, SendPace::Whole)).await;
        sleep(Duration::from_millis(50)).await;
        return trouble("the examiner hung up on purpose".to_owned());
    }
    // Reading goes on while writing does: a server may refuse a large body long before its end.
    let writing = async {
        let result = timeout_at(deadline, write(&mut to, head.as_bytes(), request.body, request.pace)).await;
        !matches!(result, Ok(Ok(())))
    };
    let reading = read(&mut from, deadline, enough);
    let (_, received) = tokio::join!(writing, reading);
    received
}

fn trouble(why: String) -> HttpExchange {
    HttpExchange { response: None, trouble: Some(why) }
}

fn head(address: &ServerAddress, request: &Request<'_>) -> String {
    let mut head = format!("{} {} HTTP/1.1\r\n", request.method, request.path);
    if !request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        head.push_str(&format!("Host: {}\r\n", address.authority()));
    }
    for (name, value) in request.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if !request.body.is_empty() || request.method == "POST" || request.method == "PUT" {
        head.push_str(&format!("Content-Length: {}\r\n", request.body.len()));
    }
    head.push_str("Connection: close\r\n\r\n");
    head
}

async fn write(
    to: &mut (impl AsyncWriteExt + Unpin),
    head: &[u8],
    body: &[u8],
    pace: SendPace,
) -> std::io::Result<()> {
    to.write_all(head).await?;
    if pace == SendPace::Dribble {
        for piece in body.chunks((body.len() / 6).max(1)) {
            sleep(Duration::from_millis(60)).await;
            to.write_all(piece).await?;
            to.flush().await?;
        }
    } else {
        to.write_all(body).await?;
    }
    to.flush().await
}

async fn read(
    from: &mut (impl AsyncReadExt + Unpin),
    deadline: Instant,
    enough: impl Fn(&Response) -> bool,
) -> HttpExchange {
    let mut reader = ResponseReader::new();
    let mut buffer = vec![0_u8; 64 * 1024];
    let mut why = None;
    while !(reader.is_done() || reader.has_head() && enough(&reader.response)) {
        match timeout_at(deadline, from.read(&mut buffer)).await {
            Err(_) => why = Some("no complete answer in time".to_owned()),
            Ok(Err(error)) => why = Some(format!("the connection broke: {}", error.kind())),
            Ok(Ok(0)) if !reader.has_head() => {
                why = Some("the connection closed without an answer".to_owned())
            }
            Ok(Ok(0)) => break,
            Ok(Ok(count)) => {
                if let Err(wrong) = reader.push(buffer.get(..count).unwrap_or_default()) {
                    why = Some(wrong.to_owned());
                }
            }
        }
        if why.is_some() {
            break;
        }
    }
    // A second answer to the same request would follow at once; a short look is enough to see it.
    if reader.has_head() && !reader.is_done() && why.is_none() {
        let look = Duration::from_millis(40);
        if let Ok(Ok(count)) = timeout(look, from.read(&mut buffer)).await {
            let _ = reader.push(buffer.get(..count).unwrap_or_default());
        }
    }
    let response = reader.has_head().then_some(reader.response);
    HttpExchange { response, trouble: why }
}
