//! Python source as tokens with their lines, as [`crate::rust`] does it for Rust.
//!
//! A string that is a statement is documentation, and therefore a comment.

use crate::rust::{Kind, Token};

/// All tokens of a source file, comments included.
pub(crate) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut found: Vec<Token<'_>> = Vec::new();
    let mut rest = source;
    let mut line = 1;
    let mut depth = 0usize;
    let mut begins_statement = true;
    while let Some(first) = rest.chars().next() {
        let (kind, length) = measure(rest, first);
        let (text, after) = rest.split_at(length.clamp(first.len_utf8(), rest.len()));
        match first {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is_documentation = kind == Some(Kind::Literal) && begins_statement && ends_statement(after);
        if let Some(kind) = kind {
            let kind = if is_documentation { Kind::Comment } else { kind };
            found.push(Token { kind, text, line });
        }
        begins_statement = match first {
            '\n' => depth == 0,
            '#' => begins_statement,
            _ => begins_statement && first.is_whitespace(),
        };
        line += text.matches('\n').count();
        rest = after;
    }
    found
}

fn ends_statement(after: &str) -> bool {
    let line = after.lines().next().unwrap_or_default().trim();
    line.is_empty() || line.starts_with('#')
}

/// The kind of the token at the start of the text, and its length in bytes.
fn measure(text: &str, first: char) -> (Option<Kind>, usize) {
    if first.is_whitespace() {
        return (None, first.len_utf8());
    }
    if first == '#' {
        return (Some(Kind::Comment), text.find('\n').unwrap_or(text.len()));
    }
    if let Some(length) = string(text) {
        return (Some(Kind::Literal), length);
    }
    if first.is_ascii_digit()
        || (first == '.' && text.chars().nth(1).is_some_and(|next| next.is_ascii_digit()))
    {
        let end = text.find(|letter: char| !matches!(letter, '_' | '.') && !letter.is_alphanumeric());
        return (Some(Kind::Literal), end.unwrap_or(text.len()));
    }
    if first == '_' || first.is_alphabetic() {
        let end = text.find(|letter: char| letter != '_' && !letter.is_alphanumeric());
        return (Some(Kind::Word), end.unwrap_or(text.len()));
    }
    (Some(Kind::Mark), first.len_utf8())
}

/// The length of a string literal of any kind, if the text begins with one.
fn string(text: &str) -> Option<usize> {
    let prefix = text.find(['"', '\'']).filter(|at| *at <= 2)?;
    let (letters, body) = text.split_at(prefix);
    if !letters.chars().all(|letter| "bfrtuBFRTU".contains(letter)) {
        return None;
    }
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| body.starts_with(quote))?;
    let inside = body.get(quote.len()..)?;
    let mut escaped = false;
    for (at, letter) in inside.char_indices() {
        if escaped {
            escaped = false;
        } else if letter == '\\' {
            escaped = true;
        } else if inside.get(at..).is_some_and(|rest| rest.starts_with(quote)) {
            return Some(prefix + quote.len() + at + quote.len());
        } else if letter == '\n' && quote.len() == 1 {
            return Some(prefix + quote.len() + at);
        }
    }
    Some(text.len())
}

#[cfg(test)]
mod tests {
    use super::{Kind, tokens};

    #[test]
    fn names_are_distinguished_from_strings_comments_and_documentation() {
        let source = "\"\"\"The\nhouse.\"\"\"\nimport a  # room\nb = rf'house \\' room'\nc(\n    \"desk\",\n    0.5, .25)\n'one word'\n";
        let of_kind = |kind: Kind| {
            let tokens = tokens(source).into_iter().filter(move |token| token.kind == kind);
            tokens.map(|token| (token.text, token.line)).collect::<Vec<_>>()
        };
        assert_eq!(of_kind(Kind::Word), [("import", 3), ("a", 3), ("b", 4), ("c", 5)]);
        let comments = [("\"\"\"The\nhouse.\"\"\"", 1), ("# room", 3), ("'one word'", 8)];
        assert_eq!(of_kind(Kind::Comment), comments);
        let literals = [("rf'house \\' room'", 4), ("\"desk\"", 6), ("0.5", 7), (".25", 7)];
        assert_eq!(of_kind(Kind::Literal), literals);
    }
}
