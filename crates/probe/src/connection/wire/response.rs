//! An incremental reader of one HTTP/1.1 response: head, then a body by length, by chunks or until close.

/// A body larger than this is cut; no answer to a failure needs so much.
const BODY_CAP: usize = 32 * 1024 * 1024;
const HEAD_CAP: usize = 64 * 1024;

/// One response as far as it was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    /// The first value of a header; names compare without case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Whether the body is a stream of events.
    pub(crate) fn is_event_stream(&self) -> bool {
        self.header("content-type")
            .is_some_and(|kind| kind.to_ascii_lowercase().contains("text/event-stream"))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyFraming {
    Head,
    Length(usize),
    Chunks,
    UntilClose,
    Done,
}

/// Parses a response incrementally from pieces of any size.
#[derive(Debug)]
pub(crate) struct ResponseReader {
    raw: Vec<u8>,
    framing: BodyFraming,
    pub(crate) response: Response,
}

impl ResponseReader {
    pub(crate) fn new() -> Self {
        Self { raw: Vec::new(), framing: BodyFraming::Head, response: Response::default() }
    }

    /// Whether the whole response was read.
    pub(crate) fn is_done(&self) -> bool {
        self.framing == BodyFraming::Done
    }

    /// Whether the status line and headers were read.
    pub(crate) fn has_head(&self) -> bool {
        self.framing != BodyFraming::Head
    }

    /// Takes more bytes; the error names what was not HTTP.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), &'static str> {
        self.raw.extend_from_slice(bytes);
        if self.framing == BodyFraming::Head {
            self.read_head()?;
        }
        match self.framing {
            BodyFraming::Length(wanted) => self.read_length(wanted),
            BodyFraming::Chunks => self.read_chunks()?,
            BodyFraming::UntilClose => self.response.body.append(&mut self.raw),
            BodyFraming::Head | BodyFraming::Done => {}
        }
        if self.response.body.len() > BODY_CAP {
            self.response.body.truncate(BODY_CAP);
            self.framing = BodyFraming::Done;
        }
        Ok(())
    }

    fn read_head(&mut self) -> Result<(), &'static str> {
        let Some(end) = self.raw.windows(4).position(|four| four == b"\r\n\r\n") else {
            return if self.raw.len() > HEAD_CAP { Err("the response head has no end") } else { Ok(()) };
        };
        let body = self.raw.split_off(end + 4);
        let head = std::mem::replace(&mut self.raw, body);
        let (status, headers) = parse_head(&String::from_utf8_lossy(&head))?;
        if status < 200 {
            // An interim answer such as 100 Continue; the real one follows.
            return self.read_head();
        }
        self.response.status = status;
        self.response.headers = headers;
        self.framing = self.choose_framing()?;
        Ok(())
    }

    fn choose_framing(&self) -> Result<BodyFraming, &'static str> {
        if matches!(self.response.status, 204 | 304) {
            return Ok(BodyFraming::Done);
        }
        let coding = self.response.header("transfer-encoding").unwrap_or_default().to_ascii_lowercase();
        if coding.contains("chunked") {
            return Ok(BodyFraming::Chunks);
        }
        match self.response.header("content-length") {
            Some(length) => {
                length.trim().parse().map(BodyFraming::Length).map_err(|_| "the content length is no number")
            }
            None => Ok(BodyFraming::UntilClose),
        }
    }

    fn read_length(&mut self, wanted: usize) {
        self.response.body.append(&mut self.raw);
        if self.response.body.len() >= wanted {
            self.response.body.truncate(wanted);
            self.framing = BodyFraming::Done;
        }
    }

    fn read_chunks(&mut self) -> Result<(), &'static str> {
        while let Some(line_end) = self.raw.windows(2).position(|two| two == b"\r\n") {
            let line = String::from_utf8_lossy(self.raw.get(..line_end).unwrap_or_default()).into_owned();
            let size = line.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(size, 16).map_err(|_| "a chunk size is no number")?;
            if size == 0 {
                self.framing = BodyFraming::Done;
                return Ok(());
            }
            let from = line_end + 2;
            let Some(to) = from.checked_add(size).filter(|to| *to <= BODY_CAP) else {
                return Err("a chunk is too large");
            };
            let Some(chunk) = self.raw.get(from..to).filter(|_| self.raw.len() >= to + 2) else {
                return Ok(());
            };
            self.response.body.extend_from_slice(chunk);
            self.raw.drain(..to + 2);
        }
        Ok(())
    }
}

type ResponseHead = (u16, Vec<(String, String)>);

fn parse_head(head: &str) -> Result<ResponseHead, &'static str> {
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap_or_default();
    if !status.starts_with("HTTP/1.") {
        return Err("the answer is not HTTP/1");
    }
    let status =
        status.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or("the status is no number")?;
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .collect();
    Ok((status, headers))
}

#[cfg(test)]
mod tests {
    use super::ResponseReader;

    /// Feeds the same bytes whole and one by one: the reading must not depend on how they arrive.
    fn check(wire: &str, status: u16, body: &str, done: bool) {
        for size in [1, 3, wire.len()] {
            let mut reader = ResponseReader::new();
            for piece in wire.as_bytes().chunks(size) {
                reader.push(piece).unwrap();
            }
            assert_eq!(reader.response.status, status, "{wire:?}");
            assert_eq!(String::from_utf8_lossy(&reader.response.body), body, "{wire:?} in {size}s");
            assert_eq!(reader.is_done(), done, "{wire:?}");
        }
    }

    #[test]
    fn bodies_are_framed_as_declared() {
        check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello", true);
        check("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel", 200, "hel", false);
        check("HTTP/1.1 400 Bad\r\n\r\nuntil close", 400, "until close", false);
        check("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", 202, "", true);
        check("HTTP/1.1 204 No Content\r\n\r\n", 204, "", true);
        check("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, "x", true);
    }

    #[test]
    fn chunks_are_joined() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        check(&format!("{head}3\r\nabc\r\nA;ext=1\r\n0123456789\r\n0\r\n\r\n"), 200, "abc0123456789", true);
        check(&format!("{head}3\r\nabc\r\n5\r\nde"), 200, "abc", false);
    }

    #[test]
    fn what_is_not_http_is_refused() {
        for wire in [
            "SSH-2.0-x\r\n\r\n",
            "HTTP/1.1 abc\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        ] {
            assert!(ResponseReader::new().push(wire.as_bytes()).is_err(), "{wire:?}");
        }
    }

    #[test]
    fn headers_are_found_without_case() {
        let mut reader = ResponseReader::new();
        reader.push(b"HTTP/1.1 200 OK\r\nCONTENT-type: text/event-stream; charset=utf-8\r\n\r\n").unwrap();
        assert!(reader.response.is_event_stream());
        assert_eq!(reader.response.header("mcp-session-id"), None);
    }
}
