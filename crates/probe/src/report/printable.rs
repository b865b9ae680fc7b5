//! Bytes from strangers, made safe for a terminal.

/// Text of at most `cap` letters with control characters and broken UTF-8 shown as escapes.
pub(crate) fn printable(bytes: &[u8], cap: usize) -> String {
    let mut shown = String::new();
    let mut letters = 0;
    for chunk in bytes.get(..cap.saturating_mul(4)).unwrap_or(bytes).utf8_chunks() {
        for letter in chunk.valid().chars() {
            if letters == cap {
                break;
            }
            letters += 1;
            match letter {
                '\n' => shown.push('\n'),
                '\r' => {}
                letter if letter.is_control() || is_invisible(letter) => {
                    shown.extend(letter.escape_unicode())
                }
                letter => shown.push(letter),
            }
        }
        for byte in chunk.invalid().iter().filter(|_| letters < cap) {
            shown.push_str(&format!("\\x{byte:02x}"));
        }
    }
    if letters == cap || bytes.len() > cap.saturating_mul(4) {
        shown.push_str(&format!("… ({} bytes)", bytes.len()));
    }
    shown
}

/// Letters that turn text around or hide in it.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn nothing_reaches_the_terminal_raw() {
        assert_eq!(printable(b"a\x1b[31m\xff\n", 50), "a\\u{1b}[31m\\xff\n");
        assert_eq!(printable("x\u{202e}y".as_bytes(), 50), "x\\u{202e}y");
        assert_eq!(printable(b"abcdef", 3), "abc… (6 bytes)");
    }
}
