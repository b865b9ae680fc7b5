//! The head of an HTTP response and a chunked body, wherever the pieces end: read at once and read byte by byte they
//! are the same, and no body is longer than what came.
//!
//! The sources are included as they are: the client's parsers need no other part of the transport.
#![no_main]

#[path = "../../crates/connect/src/chunks.rs"]
#[allow(dead_code, reason = "only the parser is used here")]
mod chunks;
#[path = "../../crates/connect/src/head.rs"]
#[allow(dead_code, reason = "only the parser is used here")]
mod head;

use bytes::BytesMut;
use chunks::{ChunkStep, Chunks};
use head::{BodyRemainder, ResponseHead};
use libfuzzer_sys::fuzz_target;

/// How a response ended: its status, how its body is told from the next response, its body, whether it is whole.
#[derive(Debug, PartialEq)]
enum Outcome {
    Refused,
    Unfinished,
    Read { status: u16, length: Option<u64>, keeps: bool, body: Option<Vec<u8>>, is_whole: bool },
}

fuzz_target!(|bytes: &[u8]| {
    let at_once = read(&[bytes]);
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(read(&single), at_once);
    let middle = bytes.len() / 2;
    let (first, second) = bytes.split_at(middle);
    assert_eq!(read(&[first, second]), at_once);
    if let Outcome::Read { body: Some(body), .. } = at_once {
        assert!(body.len() <= bytes.len());
    }
});

fn read(pieces: &[&[u8]]) -> Outcome {
    let mut pieces = pieces.iter();
    let mut came = BytesMut::new();
    let (head, rest) = loop {
        match ResponseHead::take(&mut came) {
            Err(_) => return Outcome::Refused,
            Ok(Some(taken)) => break taken,
            Ok(None) => {}
        }
        let Some(piece) = pieces.next() else { return Outcome::Unfinished };
        came.extend_from_slice(piece);
    };
    for name in ["content-type", "mcp-session-id", "location", ""] {
        if let Some(value) = head.header(name) {
            assert!(value.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte)), "{value:?}");
        }
    }
    let outcome = |length, body, is_whole| Outcome::Read {
        status: head.status,
        length,
        keeps: rest.keeps,
        body,
        is_whole,
    };
    let mut chunks = match rest.body {
        BodyRemainder::Nothing => return outcome(Some(0), None, true),
        BodyRemainder::Bytes(length) => return outcome(Some(length), None, true),
        BodyRemainder::UntilClose => return outcome(None, None, false),
        BodyRemainder::Chunks(_) => Chunks::default(),
    };
    let mut body = Vec::new();
    loop {
        match chunks.cut(&mut came) {
            Err(_) => return Outcome::Refused,
            Ok(ChunkStep::Piece(piece)) => body.extend_from_slice(&piece),
            Ok(ChunkStep::End) => return outcome(None, Some(body), true),
            Ok(ChunkStep::More) => match pieces.next() {
                Some(piece) => came.extend_from_slice(piece),
                None => return outcome(None, Some(body), false),
            },
        }
    }
}
