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
    putty(text, spans);
    let mut open = None;
    for at in memmem::find_iter(text, MARK) {
        match (open, edge(text, at)) {
            (None, Some(Edge::Begin(start))) => open = Some(start),
            (Some(start), Some(Edge::End)) => {
                let end = line_end(text, at + MARK.len());
                spans.push(Span { start, end, category: Category::PrivateKey });
                open = None;
            }
            _ => {}
        }
    }
    match open {
        Some(start) => {
            spans.push(Span { start, end: text.len(), category: Category::PrivateKey });
            Block::Open
        }
        None => Block::Closed,
    }
}

/// What first and last lines have in common.
const MARK: &[u8] = b"PRIVATE KEY";
/// The most that stands before it on its line.
const AHEAD: usize = 60;

enum Edge {
    Begin(usize),
    End,
}

/// Which line of a block this is, if any.
fn edge(text: &[u8], mark: usize) -> Option<Edge> {
    let from = mark.saturating_sub(AHEAD);
    let ahead = text.get(from..mark)?;
    match (memmem::rfind(ahead, b"BEGIN"), memmem::rfind(ahead, b"END")) {
        (Some(begin), end) if end.is_none_or(|end| end < begin) => {
            let dashes = ahead.get(..begin)?.iter().rev().take_while(|b| matches!(b, b'-' | b' ')).count();
            Some(Edge::Begin(from + begin - dashes))
        }
        (_, Some(_)) => Some(Edge::End),
        _ => None,
    }
}

/// The other common format, which ends with a line of its own.
fn putty(text: &[u8], spans: &mut Vec<Span>) {
    let mut at = 0;
    while let Some(found) = memmem::find(text.get(at..).unwrap_or_default(), b"PuTTY-User-Key-File-") {
        let start = at + found;
        let rest = text.get(start..).unwrap_or_default();
        let end = memmem::find(rest, b"Private-MAC:").map_or(text.len(), |mac| {
            let line = rest
                .get(mac..)
                .unwrap_or_default()
                .iter()
                .take_while(|b| !matches!(b, b'\n' | b'\r'))
                .count();
            start + mac + line
        });
        spans.push(Span { start, end, category: Category::PrivateKey });
        at = end;
    }
}

fn line_end(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let block = rest.strip_prefix(b" BLOCK").map_or(0, |_| 6);
    from + block + rest.get(block..).unwrap_or_default().iter().take_while(|byte| **byte == b'-').count()
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
