//! Whitespace between tokens.

const EIGHT_SPACES: [u8; 8] = [b' '; 8];

/// The offset of the first byte at or after `at` that is not JSON whitespace.
#[inline(always)]
pub(crate) fn skip_space(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(byte) if *byte <= b' ' => skip_run(bytes, at),
        _ => at,
    }
}

/// Indented documents have long runs of spaces, so spaces are skipped eight at a time.
fn skip_run(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b' ' if bytes.get(at..at + 8) == Some(&EIGHT_SPACES) => at += 8,
            b' ' | b'\n' | b'\r' | b'\t' => at += 1,
            _ => return at,
        }
    }
    at
}
