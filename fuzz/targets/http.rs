//! The parsers of HTTP response heads and chunked bodies. Input read at once and byte by byte gives the same result, up to
//! the first byte of the next response. The headers are those that httparse finds. A body written in chunks is read
//! back.
//!
//! The sources are included directly, because the parsers need no other part of the transport.
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

/// A parsed response: its status, the framing of its body, the body, whether it is complete, and the unread bytes.
#[derive(Debug, PartialEq)]
enum Outcome {
    Refused,
    Unfinished,
    Read {
        status: u16,
        length: Option<u64>,
        keeps: bool,
        body: Option<Vec<u8>>,
        is_whole: bool,
        after: Vec<u8>,
    },
}

const NEXT: &[u8] = b"HTTP/1.1 200 OK\r\n";

fuzz_target!(|bytes: &[u8]| {
    let at_once = read(&[bytes]);
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(read(&single), at_once);
    let middle = bytes.len() / 2;
    let (first, second) = bytes.split_at(middle);
    assert_eq!(read(&[first, second]), at_once);
    if let Outcome::Read { body: Some(body), after, .. } = at_once {
        assert!(body.len() + after.len() <= bytes.len());
    }
    round_trip(bytes);
});

/// The first byte is the length of a list of sizes. What follows the list is the body, cut into chunks of these sizes.
fn round_trip(bytes: &[u8]) {
    let Some((count, rest)) = bytes.split_first() else { return };
    let (sizes, body) = rest.split_at(rest.len().min(usize::from(count % 16)));
    let mut written = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    let (mut left, mut sizes) = (body, sizes.iter());
    while !left.is_empty() {
        let size = sizes.next().map_or(left.len(), |size| usize::from(*size).clamp(1, left.len()));
        let (chunk, others) = left.split_at(size);
        // Some sizes are written with leading zeros, in capitals, or with an extension.
        let head = match size % 3 {
            0 => format!("{size:04X}\r\n"),
            1 => format!("{size:x};name=value\r\n"),
            _ => format!("{size:x}\r\n"),
        };
        written.extend([head.as_bytes(), chunk, b"\r\n"].concat());
        left = others;
    }
    written.extend(if count % 2 == 0 { &b"0\r\n\r\n"[..] } else { b"0\r\nX-Trailer: x\r\n\r\n" });
    written.extend(NEXT);
    let (body, after) = (Some(body.to_vec()), NEXT.to_vec());
    let expected = Outcome::Read { status: 200, length: None, keeps: true, body, is_whole: true, after };
    let (first, second) = written.split_at(usize::from(*count) * 7 % written.len());
    assert_eq!(read(&[first, second]), expected);
}

/// The headers are those that httparse finds in the same bytes.
fn compare_headers(head: &ResponseHead, mut seen: &[u8]) {
    let mut headers = [httparse::EMPTY_HEADER; 100];
    loop {
        let mut response = httparse::Response::new(&mut headers);
        let Ok(httparse::Status::Complete(length)) = response.parse(seen) else { panic!("a head was taken") };
        let (_, rest) = seen.split_at(length);
        seen = rest;
        if response.code.is_some_and(|code| (100..200).contains(&code)) {
            continue;
        }
        for header in response.headers.iter() {
            let same = |other: &&httparse::Header<'_>| other.name.eq_ignore_ascii_case(header.name);
            let first = response.headers.iter().find(same).map(|first| first.value.trim_ascii());
            let text = first.filter(|value| value.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~')));
            assert_eq!(head.header(header.name).map(str::as_bytes), text, "{}", header.name);
        }
        return;
    }
}

fn read(pieces: &[&[u8]]) -> Outcome {
    let mut pieces = pieces.iter();
    let mut seen = Vec::new();
    let mut came = BytesMut::new();
    let (head, rest) = loop {
        match ResponseHead::take(&mut came) {
            Err(_) => return Outcome::Refused,
            Ok(Some(taken)) => break taken,
            Ok(None) => {}
        }
        let Some(piece) = pieces.next() else { return Outcome::Unfinished };
        came.extend_from_slice(piece);
        seen.extend_from_slice(piece);
    };
    compare_headers(&head, &seen);
    assert_eq!(head.header(""), None);
    let (status, keeps) = (head.status, rest.keeps);
    let outcome = |length, body, is_whole, came: BytesMut, pieces: std::slice::Iter<'_, &[u8]>| {
        let after = [&came[..], &pieces.copied().collect::<Vec<_>>().concat()].concat();
        Outcome::Read { status, length, keeps, body, is_whole, after }
    };
    let mut chunks = match rest.body {
        BodyRemainder::Nothing => return outcome(Some(0), None, true, came, pieces),
        BodyRemainder::Bytes(length) => return outcome(Some(length), None, true, came, pieces),
        BodyRemainder::UntilClose => return outcome(None, None, false, came, pieces),
        BodyRemainder::Chunks(_) => Chunks::default(),
    };
    let mut body = Vec::new();
    loop {
        match chunks.cut(&mut came) {
            Err(_) => return Outcome::Refused,
            Ok(ChunkStep::Piece(piece)) => body.extend_from_slice(&piece),
            Ok(ChunkStep::End) => return outcome(None, Some(body), true, came, pieces),
            Ok(ChunkStep::More) => match pieces.next() {
                Some(piece) => came.extend_from_slice(piece),
                None => return outcome(None, Some(body), false, came, pieces),
            },
        }
    }
}
