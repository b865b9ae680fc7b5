use failwell_fault::is_deceptive;

/// Escapes characters that move the cursor, change the direction, are invisible or only look like a space.
/// Line breaks stay.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | ' ' => shown.push(c),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            c if is_deceptive(c) || c.is_whitespace() || is_blank(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

/// Characters without a glyph, or with a private meaning.
fn is_blank(c: char) -> bool {
    matches!(c,
        '\u{2800}' | '\u{E000}'..='\u{F8FF}' | '\u{FFFC}'..='\u{FFFF}' | '\u{F0000}'..='\u{10FFFF}')
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn nothing_hides() {
        for (text, shown) in [
            ("plain é 日本 🎉\nnext", "plain é 日本 🎉\nnext"),
            ("a\u{202e}b\u{200b}c\u{1b}[31m\u{7f}", "a\\u{202e}b\\u{200b}c\\u{1b}[31m\\u{7f}"),
            ("tag\u{e0069}\u{e0067}", "tag\\u{e0069}\\u{e0067}"),
            ("no\u{a0}break\u{3000}wide\u{fe0f}", "no\\u{a0}break\\u{3000}wide\\u{fe0f}"),
            ("\t\r\u{2028}\u{e000}\u{2800}", "\\t\\r\\u{2028}\\u{e000}\\u{2800}"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }
}
