/// Escapes foreign text, so that it cannot move the cursor, change colours or forge a log line on a terminal.
pub fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => safe.push_str("\n    "),
            '\t' => safe.push('\t'),
            '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => {
                safe.extend(c.escape_unicode())
            }
            c if c.is_control() => safe.extend(c.escape_default()),
            c => safe.push(c),
        }
    }
    safe
}
