use std::io;
use std::mem::MaybeUninit;

use bytes::{Bytes, BytesMut};

use super::chunks::Chunks;

/// Maximum bytes of a response head.
const LARGEST: usize = 64 * 1024;
/// Maximum number of headers.
const MOST: usize = 100;

pub(super) struct ResponseHead {
    pub(super) status: u16,
    bytes: Bytes,
}

/// The unread part of a body.
pub(super) enum BodyRemainder {
    Nothing,
    Bytes(u64),
    Chunks(Chunks),
    /// The body ends when the server closes the connection.
    UntilClose,
}

/// The body of a response, and the state of the connection after it.
pub(super) struct Rest {
    pub(super) body: BodyRemainder,
    /// The connection can be reused.
    pub(super) keeps: bool,
}

impl ResponseHead {
    /// Parses a response head; `None` if it is incomplete. Informational (1xx) responses are skipped.
    pub(super) fn take(came: &mut BytesMut) -> io::Result<Option<(ResponseHead, Rest)>> {
        loop {
            let mut headers = [const { MaybeUninit::uninit() }; MOST];
            let mut response = httparse::Response::new(&mut []);
            let parsed = httparse::ParserConfig::default()
                .parse_response_with_uninit_headers(&mut response, came, &mut headers)
                .map_err(|error| odd(error.to_string()))?;
            let httparse::Status::Complete(length) = parsed else {
                return if came.len() >= LARGEST { Err(odd("its head is too large")) } else { Ok(None) };
            };
            let status = response.code.unwrap_or_default();
            match status {
                101 => return Err(odd("it speaks another protocol from here on")),
                100..=199 => drop(came.split_to(length)),
                _ => {
                    let rest = Rest::of(status, response.version, response.headers)?;
                    return Ok(Some((ResponseHead { status, bytes: came.split_to(length).freeze() }, rest)));
                }
            }
        }
    }

    /// The first header of this name, if it is visible ASCII.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.bytes.split(|byte| *byte == b'\n').skip(1);
        let value = lines.find_map(|line| {
            let (found, rest) = line.split_at_checked(name.len())?;
            found.eq_ignore_ascii_case(name.as_bytes()).then(|| rest.trim_ascii_start().strip_prefix(b":"))?
        })?;
        let text = std::str::from_utf8(value.trim_ascii()).ok()?;
        text.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte)).then_some(text)
    }
}

impl Rest {
    fn of(status: u16, version: Option<u8>, headers: &[httparse::Header<'_>]) -> io::Result<Rest> {
        let (mut length, mut coding) = (None, None);
        let (mut closes, mut keeps) = (false, version == Some(1));
        for header in headers {
            if header.name.eq_ignore_ascii_case("content-length") {
                let stated = length_in(header.value)?;
                if length.is_some_and(|before| before != stated) {
                    return Err(odd("it states two lengths"));
                }
                length = Some(stated);
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                coding = Some(is_token(header.value.rsplit(|byte| *byte == b',').next(), "chunked"));
            } else if header.name.eq_ignore_ascii_case("connection") {
                for token in header.value.split(|byte| *byte == b',') {
                    closes |= is_token(Some(token), "close");
                    keeps |= is_token(Some(token), "keep-alive");
                }
            }
        }
        let keeps = keeps && !closes;
        Ok(match (coding, length) {
            _ if matches!(status, 204 | 304) => Rest { body: BodyRemainder::Nothing, keeps },
            // The response states two framings, so the start of the next response is ambiguous: do not reuse
            // the connection.
            (Some(true), stated) => {
                Rest { body: BodyRemainder::Chunks(Chunks::default()), keeps: keeps && stated.is_none() }
            }
            (None, Some(0)) => Rest { body: BodyRemainder::Nothing, keeps },
            (None, Some(length)) => Rest { body: BodyRemainder::Bytes(length), keeps },
            (Some(false), _) | (None, None) => Rest { body: BodyRemainder::UntilClose, keeps: false },
        })
    }
}

fn is_token(value: Option<&[u8]>, wanted: &str) -> bool {
    value.is_some_and(|value| value.trim_ascii().eq_ignore_ascii_case(wanted.as_bytes()))
}

/// Reads a content length. Some servers repeat it in a list.
fn length_in(value: &[u8]) -> io::Result<u64> {
    let mut lengths = value.split(|byte| *byte == b',').map(|text| {
        let text = text.trim_ascii();
        let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
        std::str::from_utf8(text).ok().filter(|_| is_number)?.parse::<u64>().ok()
    });
    let first = lengths.next().flatten().ok_or_else(|| odd("its length is no number"))?;
    if lengths.all(|other| other == Some(first)) { Ok(first) } else { Err(odd("it states two lengths")) }
}

/// The error for an invalid response.
pub(super) fn odd(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.into())
}

#[cfg(test)]
mod tests {
    use super::{BodyRemainder, ResponseHead, Rest};
    use bytes::BytesMut;

    fn take(text: &str) -> std::io::Result<Option<(ResponseHead, Rest)>> {
        ResponseHead::take(&mut BytesMut::from(text))
    }

    fn rest(headers: &str) -> Rest {
        let taken = take(&format!("HTTP/1.1 200 OK\r\n{headers}\r\n")).expect("a head");
        taken.expect("a whole head").1
    }

    #[test]
    fn a_head_is_taken_when_it_is_whole() {
        assert!(take("HTTP/1.1 200 OK\r\ncontent-le").expect("the start of a head").is_none());
        let text =
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\nX-Y: one\r\nx-y: two\r\nZ:\u{e9}\r\n\r\n";
        let (head, _) = take(text).expect("a head").expect("a whole head");
        assert_eq!((head.status, head.header("x-y"), head.header("x")), (404, Some("one"), None));
        assert_eq!(head.header("z"), None, "no text");
    }

    #[test]
    fn the_headers_say_where_the_body_ends() {
        assert!(matches!(rest("Content-Length: 5\r\n").body, BodyRemainder::Bytes(5)));
        assert!(matches!(
            rest("Content-Length: 5, 5\r\ncontent-length: 5\r\n").body,
            BodyRemainder::Bytes(5)
        ));
        assert!(matches!(rest("Transfer-Encoding: gzip, Chunked\r\n").body, BodyRemainder::Chunks(_)));
        assert!(matches!(rest("").body, BodyRemainder::UntilClose));
        assert!(matches!(rest("transfer-encoding: gzip\r\n").body, BodyRemainder::UntilClose));
    }

    #[test]
    fn a_connection_is_reused_when_both_know_where_the_next_answer_begins() {
        assert!(rest("content-length: 0\r\n").keeps);
        assert!(!rest("content-length: 0\r\nConnection: x, Close\r\n").keeps);
        assert!(!rest("content-length: 3\r\ntransfer-encoding: chunked\r\n").keeps);
        assert!(!rest("").keeps);
        let old = take("HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n").expect("a head").expect("whole");
        assert!(!old.1.keeps);
    }

    #[test]
    fn what_no_server_should_say_is_refused() {
        for headers in ["content-length: 5\r\ncontent-length: 6\r\n", "content-length: +5\r\n", "a b: c\r\n"]
        {
            assert!(take(&format!("HTTP/1.1 200 OK\r\n{headers}\r\n")).is_err(), "{headers}");
        }
        assert!(take("HTTP/1.1 101 Switching Protocols\r\n\r\n").is_err());
        assert!(take(&format!("HTTP/1.1 200 OK\r\nx: {}", "y".repeat(70_000))).is_err());
    }
}
