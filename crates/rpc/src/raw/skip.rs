//! Finds the end of a value in scanned text.

use crate::scan::byte;
use crate::scan::text::skip_scanned;

/// The offset after the string that opens at `open`, and whether it has escapes.
pub(super) fn string_end(bytes: &[u8], open: usize) -> (usize, bool) {
    let first = skip_scanned(bytes, open + 1);
    let mut at = first;
    while byte(bytes, at) == b'\\' {
        at = skip_scanned(bytes, at + 2);
    }
    (at + 1, at != first)
}

/// The offset after the value that starts at `start`, at most the length of the bytes.
pub(super) fn value_end(bytes: &[u8], start: usize) -> usize {
    let end = match byte(bytes, start) {
        b'"' => string_end(bytes, start).0,
        b'{' | b'[' => container_end(bytes, start),
        _ => scalar_end(bytes, start),
    };
    end.min(bytes.len())
}

fn container_end(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string_end(bytes, at).0;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at
}

fn scalar_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        if matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t') {
            break;
        }
        at += 1;
    }
    at
}
