//! Responses to connections whose request never reaches a handler: unreadable, unfinished, or one too many.

use std::time::Duration;

use failwell_fault::{Fault, Retry, reason};
use failwell_render::Reply;
use http::StatusCode;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::http::settings::HttpSettings;

/// Maximum time to write such a response, and to read what the client still sends.
const PATIENCE: Duration = Duration::from_secs(1);
/// Maximum bytes that are read and discarded after the response.
const MOST: usize = 1024 * 1024;

/// Why a request head is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeadProblem {
    Invalid,
    TargetTooLong,
    TooLarge,
    Late,
}

impl HeadProblem {
    /// Recognizes the response without a body that hyper writes when it cannot read a head. No response of
    /// this program looks like it, because each of these statuses has a body here.
    pub(super) fn in_response(bytes: &[u8]) -> Option<HeadProblem> {
        let rest = bytes.strip_prefix(b"HTTP/1.1 ")?;
        let problem = match rest.get(..3)? {
            b"400" => HeadProblem::Invalid,
            b"414" => HeadProblem::TargetTooLong,
            b"431" => HeadProblem::TooLarge,
            _ => return None,
        };
        let has = |line: &[u8]| memchr::memmem::find(bytes, line).is_some();
        let is_whole = memchr::memmem::find(bytes, b"\r\n\r\n") == bytes.len().checked_sub(4);
        (is_whole && has(b"\r\ncontent-length: 0\r\n") && !has(b"\r\ncontent-type:")).then_some(problem)
    }

    pub(super) fn fault(self, settings: &HttpSettings, largest: usize) -> Fault {
        match self {
            HeadProblem::Invalid => Fault::new(&reason::HTTP_BAD_HEAD),
            HeadProblem::TargetTooLong => {
                Fault::new(&reason::HTTP_TARGET_TOO_LONG).retry_as(Retry::AfterChange)
            }
            HeadProblem::TooLarge => {
                Fault::new(&reason::HTTP_HEAD_TOO_LARGE).fact("limit", largest).retry_as(Retry::AfterChange)
            }
            HeadProblem::Late => {
                Fault::new(&reason::HTTP_SLOW_HEAD).fact("limit_s", settings.head_deadline.as_secs())
            }
        }
    }
}

/// Writes a response to a connection and closes it, within a short time. What the client still sends is read:
/// otherwise the system would reset the connection, and the client might never see the response.
pub(super) async fn write_last(mut stream: impl AsyncRead + AsyncWrite + Unpin, reply: Reply) {
    let bytes = encoded(&reply);
    let written = async {
        stream.write_all(&bytes).await?;
        stream.shutdown().await
    };
    if !matches!(tokio::time::timeout(PATIENCE, written).await, Ok(Ok(()))) {
        return;
    }
    let mut rest = vec![0; 16 * 1024];
    let discarded = async {
        let mut total = 0;
        while total < MOST {
            match stream.read(&mut rest).await {
                Ok(0) | Err(_) => return,
                Ok(count) => total += count,
            }
        }
    };
    let _ = tokio::time::timeout(PATIENCE, discarded).await;
}

fn encoded(reply: &Reply) -> Vec<u8> {
    let name = StatusCode::from_u16(reply.status).ok().and_then(|status| status.canonical_reason());
    let mut head = format!("HTTP/1.1 {} {}\r\n", reply.status, name.unwrap_or_default());
    head.push_str(&format!("content-type: {}\r\n", reply.content_type));
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("content-length: {}\r\nconnection: close\r\n\r\n", reply.body.len()));
    [head.into_bytes(), reply.body.clone()].concat()
}

#[cfg(test)]
mod tests {
    use super::HeadProblem;

    #[test]
    fn only_responses_of_the_parser_are_recognized() {
        let found = |text: &str| HeadProblem::in_response(text.as_bytes());
        let date = "date: Wed, 18 Nov 2026 09:00:00 GMT";
        let empty = |status: &str| format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n{date}\r\n\r\n");
        assert_eq!(found(&empty("400 Bad Request")), Some(HeadProblem::Invalid));
        assert_eq!(found(&empty("414 URI Too Long")), Some(HeadProblem::TargetTooLong));
        assert_eq!(found(&empty("431 Request Header Fields Too Large")), Some(HeadProblem::TooLarge));
        assert_eq!(found(&empty("204 No Content")), None);
        assert_eq!(found(&(empty("400 Bad Request") + "HTTP/1.1")), None, "more follows");
        let with_body =
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
        assert_eq!(found(with_body), None);
    }
}
