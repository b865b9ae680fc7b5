/// Foreign text must not move the cursor, change colours or forge a line of ours on the operator's terminal.
pub(crate) fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => safe.push_str("\n    "),
            '\t' => safe.push('\t'),
            c if c.is_control() => safe.extend(c.escape_default()),
            c => safe.push(c),
        }
    }
    safe
}
