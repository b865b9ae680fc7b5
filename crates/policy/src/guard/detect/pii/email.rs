//! E-mail addresses.

use memchr::memchr_iter;

use crate::guard::category::Category;
use crate::guard::detect::pattern::{Span, before};

/// The longest name, and the longest host.
const NAME: usize = 64;
const HOST: usize = 254;

/// Checks around every at sign. Both sides end at the next at sign, so the scan stays linear.
pub(super) fn find(text: &[u8], spans: &mut Vec<Span>) {
    for at in memchr_iter(b'@', text) {
        let found = host(text, at + 1).and_then(|end| Some((name(text, at, end)?, end)));
        spans.extend(found.map(|(start, end)| Span { start, end, category: Category::Email }));
    }
}

/// The end of a host that begins here.
fn host(text: &[u8], start: usize) -> Option<usize> {
    let is_part =
        |byte: &&u8| byte.is_ascii_alphanumeric() || !byte.is_ascii() || matches!(byte, b'.' | b'-');
    let rest = text.get(start..)?;
    let mut length = rest.iter().take(HOST).take_while(is_part).count();
    while length > 0 && rest.get(length - 1).is_some_and(|byte| matches!(byte, b'.' | b'-')) {
        length -= 1;
    }
    let host = rest.get(..length)?;
    let top = host.rsplit(|byte| *byte == b'.').next()?;
    let is_host = host.contains(&b'.')
        && host.first().is_some_and(u8::is_ascii_alphanumeric)
        && !host.windows(2).any(|pair| pair == b"..")
        && (2..=24).contains(&top.len())
        && top.iter().all(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii());
    is_host.then_some(start + length)
}

/// The start of the name before an at sign.
fn name(text: &[u8], at: usize, end: usize) -> Option<usize> {
    if before(text, at) == Some(&b'"') {
        return quoted_name(text, at - 1);
    }
    let is_part = |byte: &&u8| {
        byte.is_ascii_alphanumeric() || !byte.is_ascii() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-')
    };
    let ahead = text.get(at.saturating_sub(NAME)..at)?;
    let start = at - ahead.iter().rev().take_while(is_part).count();
    let name = text.get(start..at)?;
    // `git@host:path` is the address of a repository.
    let is_repository = name == b"git" && text.get(end) == Some(&b':');
    // `https://user@host/` names an account on that host, not a mailbox.
    let is_account = text.get(..start)?.ends_with(b"://");
    let dots = name.iter().take_while(|byte| **byte == b'.').count();
    (name.iter().any(u8::is_ascii_alphanumeric) && !is_repository && !is_account).then_some(start + dots)
}

/// The start of a name in quotes that ends here: `"ada lovelace"@example.com`. In a program its quotes are escaped.
fn quoted_name(text: &[u8], end: usize) -> Option<usize> {
    let from = end.saturating_sub(NAME);
    let ahead = text.get(from..end)?;
    let quote = from + ahead.iter().rposition(|byte| matches!(byte, b'"' | b'\n'))?;
    let name = text.get(quote + 1..end)?;
    let is_name = text.get(quote) == Some(&b'"') && name.iter().any(u8::is_ascii_alphanumeric);
    let is_escaped = before(text, quote) == Some(&b'\\');
    is_name.then(|| quote - usize::from(is_escaped))
}
