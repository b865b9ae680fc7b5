//! Tokens of three parts without a literal: those of Discord's bots.

use memchr::memchr_iter;

use crate::guard::category::Category;
use crate::guard::detect::pattern::{Span, before, is_token};

/// The length of the part in the middle.
const MIDDLE: usize = 6;

pub(super) fn may_be_in(text: &[u8]) -> bool {
    tokens(text).next().is_some()
}

pub(super) fn find(text: &[u8], spans: &mut Vec<Span>) {
    spans.extend(tokens(text).map(|(start, end)| Span { start, end, category: Category::ServiceKey }));
}

fn tokens(text: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    memchr_iter(b'.', text).filter_map(move |dot| {
        let second = dot + 1 + MIDDLE;
        if text.get(second) != Some(&b'.') || !text.get(dot + 1..second)?.iter().all(|byte| is_part(&byte)) {
            return None;
        }
        let first = text.get(dot.saturating_sub(30)..dot)?.iter().rev().take_while(is_part).count();
        let last = text.get(second + 1..)?.iter().take(40).take_while(is_part).count();
        let start = dot - first;
        // The first part is the base64 of a number, which begins with one of these.
        let is_number = matches!(text.get(start), Some(b'M' | b'N' | b'O'));
        let free = before(text, start).is_none_or(|byte| !is_token(*byte));
        ((23..=28).contains(&first) && (27..=38).contains(&last) && is_number && free)
            .then_some((start, second + 1 + last))
    })
}
