//! JSON formatted for people: one member per line, long texts split at sentences, hidden characters escaped.

use failwell_rpc::{Kind, Raw};

use crate::text::visible;

/// Longer texts go below their name, one sentence per line.
const SHORT: usize = 80;
/// Maximum width of a line of text.
const WIDEST: usize = 160;

/// A value as lines. Members are sorted by name; numbers keep their notation.
pub fn readable(value: Raw<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    write(value, 0, None, &mut lines);
    lines
}

fn write(value: Raw<'_>, depth: usize, name: Option<&str>, lines: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    let head = name.map_or_else(|| indent.clone(), |name| format!("{indent}{name} "));
    match value.kind() {
        Kind::Object => {
            let mut members: Vec<_> = value.as_object().into_iter().flatten().collect();
            if members.is_empty() {
                return lines.push(format!("{head}{{}}"));
            }
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            let below = begin(name, &head, depth, lines);
            for (name, value) in members {
                write(value, below, Some(&format!("{}:", key(&name))), lines);
            }
        }
        Kind::Array => {
            let mut items = value.as_array().into_iter().flatten().peekable();
            if items.peek().is_none() {
                return lines.push(format!("{head}[]"));
            }
            let below = begin(name, &head, depth, lines);
            items.for_each(|item| write(item, below, Some("-"), lines));
        }
        Kind::String => text(&value.as_str().unwrap_or_default(), &head, depth, lines),
        Kind::Null | Kind::Bool | Kind::Number => lines.push(format!("{head}{}", value.text())),
    }
}

/// Objects and arrays go below their name.
fn begin(name: Option<&str>, head: &str, depth: usize, lines: &mut Vec<String>) -> usize {
    if name.is_some() {
        lines.push(head.trim_end().to_owned());
    }
    depth + usize::from(name.is_some())
}

fn text(text: &str, head: &str, depth: usize, lines: &mut Vec<String>) {
    let shown = visible(text);
    if shown.chars().count() <= SHORT && !shown.contains('\n') {
        return lines.push(format!("{head}\"{}\"", shown.replace('"', "\\\"")));
    }
    lines.push(format!("{head}text"));
    let indent = "  ".repeat(depth + 1);
    for line in shown.split('\n') {
        sentences(line).iter().for_each(|piece| lines.push(format!("{indent}| {piece}")));
    }
}

/// Splits a line after each sentence, and where it exceeds the maximum width.
fn sentences(line: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut width = 0;
    let mut ended = false;
    for c in line.chars() {
        let is_between = ended && c == ' ';
        if is_between || width >= WIDEST {
            pieces.push(String::new());
            width = 0;
        }
        if let Some(piece) = pieces.last_mut().filter(|_| !is_between) {
            piece.push(c);
            width += 1;
        }
        ended = matches!(c, '.' | '!' | '?');
    }
    pieces
}

/// Quotes a name that could be mistaken for something else.
fn key(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | '/');
    let is_plain = !name.is_empty() && name.chars().all(plain);
    if is_plain { name.to_owned() } else { format!("\"{}\"", visible(name).replace('\n', "\\n")) }
}

#[cfg(test)]
mod tests {
    use super::readable;
    use failwell_rpc::Raw;

    fn check(json: &str, lines: &[&str]) {
        assert_eq!(readable(Raw::written(json)), lines, "{json}");
    }

    #[test]
    fn values_are_lines() {
        check(
            r#"{"b":[1,{"x":[]}],"a":18446744073709551617}"#,
            &["a: 18446744073709551617", "b:", "  - 1", "  -", "    x: []"],
        );
        check(
            r#"{"two words":"say \"hi\"","e":{},"n":null}"#,
            &["e: {}", "n: null", r#""two words": "say \"hi\"""#],
        );
        check("{}", &["{}"]);
        check("[true]", &["- true"]);
        check(r#""plain""#, &["\"plain\""]);
    }

    #[test]
    fn long_texts_are_broken_and_nothing_hides_in_them() {
        check(
            r#"{"d":"One. Two!\nThree\u202e"}"#,
            &["d: text", "  | One.", "  | Two!", "  | Three\\u{202e}"],
        );
        let long = format!(r#"{{"d":"{}"}}"#, "x".repeat(400));
        assert_eq!(readable(Raw::written(&long)).len(), 1 + 3);
    }
}
