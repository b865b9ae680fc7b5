//! Private keys: the whole block is a finding, not only its first line.

use memchr::memmem;

use crate::guard::category::Category;
use crate::guard::detect::pattern::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::guard) enum PemBlock {
    Closed,
    Open,
}

/// Finds every block. A block without an end extends to the end of the text, and possibly into the next one.
pub(in crate::guard) fn find(text: &[u8], spans: &mut Vec<Span>) -> PemBlock {
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
            PemBlock::Open
        }
        None => PemBlock::Closed,
    }
}

/// Text that the first and last line of a block have in common.
const MARK: &[u8] = b"PRIVATE KEY";
/// Literals without which a text contains no private key.
pub(super) const MARKS: [&str; 2] = ["PRIVATE KEY", "PuTTY-User-Key-File-"];
/// Maximum number of bytes before it on the same line.
const AHEAD: usize = 60;

enum Edge {
    Begin(usize),
    End,
}

/// Tells whether a line begins or ends a block.
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

/// PuTTY key files, which end with a line `Private-MAC:`.
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

/// Returns true if a text may be a line of a key's body. A single word may be one too, so callers also check
/// its context.
pub(in crate::guard) fn is_body(text: &[u8]) -> bool {
    !text.is_empty()
        && text
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || b.is_ascii_whitespace() || matches!(b, b'+' | b'/' | b'='))
}

/// The position after the end of a block.
pub(in crate::guard) fn end_in(text: &[u8]) -> Option<usize> {
    let end = memmem::find(text, b"-END")?;
    let key = end + memmem::find(text.get(end..)?, b"PRIVATE KEY")?;
    Some(line_end(text, key + 11))
}
