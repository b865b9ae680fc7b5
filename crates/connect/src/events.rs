use std::collections::VecDeque;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use memchr::memchr2;

use super::remote::SendError;
use super::wire::Wire;

/// Maximum length of an event id; longer ids are ignored.
const LONGEST_ID: usize = 1_024;

/// A stream of server-sent events. Dropping it closes its connection.
pub struct EventStream {
    wire: Box<Wire>,
    parser: Parser,
    cap: usize,
}

impl EventStream {
    pub(super) fn new(wire: Box<Wire>, cap: usize) -> EventStream {
        EventStream { wire, parser: Parser::default(), cap }
    }

    /// The data of the next `message` event; `None` at the end of the stream. Cancel-safe.
    pub async fn next(&mut self) -> Result<Option<Bytes>, SendError> {
        self.next_named("message").await
    }

    /// The data of the next event with this name. Other events are skipped.
    pub async fn next_named(&mut self, name: &str) -> Result<Option<Bytes>, SendError> {
        loop {
            match self.parser.ready.pop_front() {
                Some((found, _)) if found != name.as_bytes() => continue,
                Some((_, data)) if data.len() > self.cap => return Err(SendError::TooLarge(self.cap)),
                Some((_, data)) => return Ok(Some(data)),
                None => {}
            }
            let Some(piece) = self.wire.piece().await? else { return Ok(None) };
            self.parser.feed(&piece);
            if self.parser.held() > self.cap {
                return Err(SendError::TooLarge(self.cap));
            }
        }
    }

    /// The id from which the stream can be resumed.
    pub fn last_id(&self) -> Option<&str> {
        self.parser.last_id.as_deref()
    }

    /// The reconnection time that the server requested.
    pub fn retry(&self) -> Option<Duration> {
        self.parser.retry
    }
}

/// Parses a stream line by line.
#[derive(Default)]
struct Parser {
    line: BytesMut,
    after_return: bool,
    begun: bool,
    data: BytesMut,
    has_data: bool,
    name: Vec<u8>,
    last_id: Option<String>,
    retry: Option<Duration>,
    /// Names and data of complete events.
    ready: VecDeque<(Vec<u8>, Bytes)>,
}

impl Parser {
    /// Bytes of an incomplete event.
    fn held(&self) -> usize {
        self.line.len() + self.data.len()
    }

    fn feed(&mut self, mut bytes: &[u8]) {
        while let Some(at) = memchr2(b'\r', b'\n', bytes) {
            let (before, rest) = bytes.split_at(at);
            let (end, rest) = rest.split_at(1);
            bytes = rest;
            // A line feed after a carriage return belongs to the same line end.
            let second_half = self.after_return && before.is_empty() && end == b"\n";
            self.after_return = end == b"\r";
            if second_half {
                continue;
            }
            self.line.extend_from_slice(before);
            let line = self.line.split();
            self.take_line(&line);
        }
        if !bytes.is_empty() {
            self.after_return = false;
            self.line.extend_from_slice(bytes);
        }
    }

    fn take_line(&mut self, line: &[u8]) {
        let line = if self.begun { line } else { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line) };
        self.begun = true;
        if line.is_empty() {
            return self.dispatch();
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.has_data {
                    self.data.extend_from_slice(b"\n");
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => self.name = value.get(..LONGEST_ID).unwrap_or(value).to_vec(),
            b"id" if value.len() <= LONGEST_ID && !value.contains(&0) => {
                self.last_id = String::from_utf8(value.to_vec()).ok().filter(|id| !id.is_empty());
            }
            b"retry" => {
                let digits = std::str::from_utf8(value).ok();
                self.retry = digits.and_then(|text| text.parse().ok()).map(Duration::from_millis);
            }
            _ => {}
        }
    }

    /// Completes an event. An event without data only updates the id; the default name is `message`.
    fn dispatch(&mut self) {
        let (data, name) = (self.data.split().freeze(), std::mem::take(&mut self.name));
        self.has_data = false;
        if !data.is_empty() {
            self.ready.push_back((if name.is_empty() { b"message".to_vec() } else { name }, data));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Parser;

    fn check(pieces: &[&str], expected: &[&str]) -> Parser {
        let mut parser = Parser::default();
        for piece in pieces {
            parser.feed(piece.as_bytes());
        }
        let found = parser.ready.iter().filter(|(name, _)| name == b"message");
        let found: Vec<&[u8]> = found.map(|(_, data)| data.as_ref()).collect();
        let expected: Vec<&[u8]> = expected.iter().map(|text| text.as_bytes()).collect();
        assert_eq!(found, expected, "{pieces:?}");
        parser
    }

    #[test]
    fn events_are_cut_wherever_the_pieces_end() {
        check(&["data: a\n\ndata:b\n\n"], &["a", "b"]);
        check(&["da", "ta: a", "\n", "\n"], &["a"]);
        check(&["data: a\r", "\n\r", "\ndata: b\r\n\r\n"], &["a", "b"]);
        check(&["data: a\r\rdata: b\r\r"], &["a", "b"]);
        check(&["data: one\ndata: two\n\n"], &["one\ntwo"]);
        check(&["\u{feff}data: a\n\n"], &["a"]);
    }

    #[test]
    fn comments_other_names_and_unfinished_events_are_no_messages() {
        check(&[": ping\n\nevent: endpoint\ndata: /x\n\nevent: message\ndata: a\n\n"], &["a"]);
        assert_eq!(check(&["data: unfinished\n"], &[]).held(), 10);
    }

    #[test]
    fn an_empty_event_says_where_the_stream_is() {
        let parser = check(&["id: 7_1\nretry: 500\ndata:\n\n"], &[]);
        assert_eq!(parser.last_id.as_deref(), Some("7_1"));
        assert_eq!(parser.retry.map(|retry| retry.as_millis()), Some(500));
    }
}
