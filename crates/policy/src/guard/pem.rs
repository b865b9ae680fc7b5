//! Private keys: the whole block counts, not only its first line.

use memchr::memmem;

use super::category::Category;
use super::pattern::Span;

/// Whether a block that began is at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    Closed,
    Open,
}

/// Finds every block. One without an end goes on to the end of the text, and perhaps into the next.
pub(super) fn find(text: &[u8], spans: &mut Vec<Span>) -> Block {
    let mut at = 0;
    while let Some((start, body, mark)) = next(text, at) {
        match memmem::find(text.get(body..).unwrap_or_default(), mark) {
            Some(found) => {
                let end = line_end(text, body + found + mark.len());
                spans.push(Span { start, end, category: Category::PrivateKey });
                at = end;
            }
            None => {
                spans.push(Span { start, end: text.len(), category: Category::PrivateKey });
                return Block::Open;
            }
        }
    }
    Block::Closed
}

/// The next first line: where it begins, where the body begins, and what ends the block.
fn next(text: &[u8], from: usize) -> Option<(usize, usize, &'static [u8])> {
    let rest = text.get(from..)?;
    let mut searched = 0;
    let pem = loop {
        let Some(found) = memmem::find(rest.get(searched..)?, b"PRIVATE KEY") else { break None };
        let at = searched + found;
        let head = rest.get(at.saturating_sub(60)..at)?;
        match memmem::rfind(head, b"BEGIN") {
            Some(begin) => {
                let dashes = head.get(..begin)?.iter().rev().take_while(|b| matches!(b, b'-' | b' ')).count();
                let start = at.saturating_sub(60) + begin - dashes;
                break Some((from + start, from + at + 11, b"PRIVATE KEY".as_slice()));
            }
            None => searched = at + 11,
        }
    };
    let putty = memmem::find(rest, b"PuTTY-User-Key-File-")
        .map(|at| (from + at, from + at + 20, b"Private-MAC:".as_slice()));
    match (pem, putty) {
        (Some(pem), Some(putty)) => Some(if pem.0 < putty.0 { pem } else { putty }),
        (one, other) => one.or(other),
    }
}

fn line_end(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let block = rest.strip_prefix(b" BLOCK").map_or(0, |_| 6);
    let rest = rest.get(block..).unwrap_or_default();
    let dashes = rest.iter().take_while(|byte| **byte == b'-').count();
    let mac = if dashes == 0 { rest.iter().take_while(|b| !matches!(b, b'\n' | b'\r')).count() } else { 0 };
    from + block + dashes + mac
}

/// Whether a text could be a line of a key's body. A word could, so how it stands there counts as well.
pub(super) fn is_body(text: &[u8]) -> bool {
    !text.is_empty()
        && text
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || b.is_ascii_whitespace() || matches!(b, b'+' | b'/' | b'='))
}

/// Whether a text holds the end of a block: where it ends.
pub(super) fn end_in(text: &[u8]) -> Option<usize> {
    let end = memmem::find(text, b"-END")?;
    let key = end + memmem::find(text.get(end..)?, b"PRIVATE KEY")?;
    Some(line_end(text, key + 11))
}
