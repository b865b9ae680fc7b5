//! JSON with comments and trailing commas.

use serde_json::Value;

/// Parses a text after its comments and trailing commas are replaced with spaces, so that lines stay.
pub(super) fn parse(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(&plain(text.trim_start_matches('\u{feff}')))
}

fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    // Where a comma stands that only spaces and comments have followed.
    let mut comma: Option<usize> = None;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' {
            string_length(rest)
        } else {
            first.len_utf8()
        };
        let (part, after) = rest.split_at(length);
        let is_comment = part.starts_with("//") || part.starts_with("/*");
        if is_comment {
            plain.extend(part.chars().map(|c| if c == '\n' { c } else { ' ' }));
        } else {
            if matches!(first, '}' | ']')
                && let Some(at) = comma
            {
                plain.replace_range(at..=at, " ");
            }
            if !first.is_whitespace() {
                comma = (first == ',').then_some(plain.len());
            }
            plain.push_str(part);
        }
        rest = after;
    }
    plain
}

/// The length of a string with its quotes; an unclosed one goes to the end.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !is_escaped => return at + 1,
            b'\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::parse;
    use serde_json::json;

    #[test]
    fn comments_and_trailing_commas_are_left_out() {
        for (text, value) in [
            ("{\"a\": 1, // one\n \"b\": [1, 2, /* three */ ],}", Some(json!({"a": 1, "b": [1, 2]}))),
            (
                r#"{"url": "http://h/*x*/", "q": "a\",}"}"#,
                Some(json!({"url": "http://h/*x*/", "q": "a\",}"})),
            ),
            (r#"{"path": "C:\\"}"#, Some(json!({"path": "C:\\"}))),
            ("[1,,2]", None),
            ("[,]", Some(json!([]))),
            ("{\"a\": 1 /* never closed", None),
            ("\"never closed", None),
        ] {
            assert_eq!(parse(text).ok(), value, "{text}");
        }
    }
}
