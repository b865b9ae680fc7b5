//! Writes JSON strings.

use crate::scan::text::skip_plain;

/// Appends a value as a JSON string with quotes.
pub fn push_json_string(out: &mut Vec<u8>, value: &str) {
    let bytes = value.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let mut at = 0;
    while at < bytes.len() {
        let stop = skip_plain(bytes, at);
        out.extend_from_slice(bytes.get(at..stop).unwrap_or_default());
        if let Some(byte) = bytes.get(stop) {
            push_escape(out, *byte);
        }
        at = stop + 1;
    }
    out.push(b'"');
}

/// Formats a value as a JSON string with quotes.
pub fn json_string(value: &str) -> String {
    // The exact size for text without escapes, so that most strings have no spare capacity.
    let mut out = Vec::with_capacity(value.len() + 2);
    push_json_string(&mut out, value);
    String::from_utf8(out).unwrap_or_default()
}

fn push_escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: [u8; 16] = *b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x0c => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            let digit = |value: u8| HEX.get(usize::from(value & 15)).copied().unwrap_or(b'0');
            return out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte)]);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Removes line breaks from scanned JSON, for transports that frame by lines. A raw line break can only be
/// whitespace between tokens (inside a string it must be escaped), so a space changes no value.
pub fn keep_on_one_line(json: &mut [u8]) {
    // Most messages have none and are not written to.
    if has_line_break(json) {
        // Writes every byte without a branch, so that the loop is vectorized.
        for byte in json {
            *byte = if matches!(*byte, b'\n' | b'\r') { b' ' } else { *byte };
        }
    }
}

fn has_line_break(json: &[u8]) -> bool {
    memchr::memchr2(b'\n', b'\r', json).is_some()
}

/// The same for text that this program wrote.
pub fn on_one_line(json: String) -> String {
    if has_line_break(json.as_bytes()) { json.replace(['\n', '\r'], " ") } else { json }
}
