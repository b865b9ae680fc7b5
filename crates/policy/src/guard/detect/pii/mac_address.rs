//! MAC addresses: six pairs of hexadecimal digits with colons or hyphens between them.

use memchr::memchr2_iter;

use crate::guard::category::Category;
use crate::guard::detect::pattern::{Span, before};

const LENGTH: usize = 17;

pub(super) fn find(text: &[u8], spans: &mut Vec<Span>) {
    for sign in memchr2_iter(b':', b'-', text) {
        let Some(start) = sign.checked_sub(2) else { continue };
        if is_address(text, start) {
            spans.push(Span { start, end: start + LENGTH, category: Category::MacAddress });
        }
    }
}

fn is_address(text: &[u8], start: usize) -> bool {
    let (Some(found), Some(sign)) = (text.get(start..start + LENGTH), text.get(start + 2)) else {
        return false;
    };
    let fits = found.iter().enumerate().all(|(place, byte)| match place % 3 {
        2 => byte == sign,
        _ => byte.is_ascii_hexdigit(),
    });
    // Without a letter it may be a time. The broadcast address has one digit only.
    let has_letter = found.iter().any(u8::is_ascii_alphabetic);
    let has_two =
        found.iter().any(|byte| byte != sign && !byte.eq_ignore_ascii_case(found.first().unwrap_or(sign)));
    let joins = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == sign || *byte == b'_')
    };
    fits && has_letter && has_two && !joins(before(text, start)) && !joins(text.get(start + LENGTH))
}
