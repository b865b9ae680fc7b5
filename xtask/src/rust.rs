//! Rust source as tokens with their lines: enough to find definitions and prose, without a parser of the whole language.
//!
//! Strings, characters and numbers become [`Kind::Literal`], so that a check of names never looks into them.

/// One token and the line it begins on, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    pub(crate) line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    Literal,
    Comment,
    Lifetime,
    Mark,
}

/// All tokens of a source file, comments included.
pub(crate) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut rest = source;
    let mut line = 1;
    while let Some(first) = rest.chars().next() {
        let (kind, length) = match first {
            _ if first.is_whitespace() => (None, first.len_utf8()),
            _ => measure(rest, first),
        };
        let (text, after) = rest.split_at(length.clamp(first.len_utf8(), rest.len()));
        if let Some(kind) = kind {
            found.push(Token { kind, text, line });
        }
        line += text.matches('\n').count();
        rest = after;
    }
    found
}

/// The kind of the token at the start of the text, and its length in bytes.
fn measure(text: &str, first: char) -> (Option<Kind>, usize) {
    if text.starts_with("//") {
        return (Some(Kind::Comment), text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return (Some(Kind::Comment), block_comment(text));
    }
    if let Some(length) = string(text) {
        return (Some(Kind::Literal), length);
    }
    if first == '\'' {
        return character_or_lifetime(text);
    }
    if first.is_ascii_digit() {
        return (Some(Kind::Literal), word_length(text));
    }
    if first == '_' || first.is_alphabetic() {
        return (Some(Kind::Word), word_length(text));
    }
    (Some(Kind::Mark), first.len_utf8())
}

fn word_length(text: &str) -> usize {
    text.find(|letter: char| letter != '_' && !letter.is_alphanumeric()).unwrap_or(text.len())
}

/// Block comments nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth = depth.saturating_sub(1);
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The length of a string literal of any kind, if the text begins with one.
fn string(text: &str) -> Option<usize> {
    let prefix = ["br", "cr", "b", "c", "r", ""].into_iter().find(|prefix| {
        let after = text.strip_prefix(prefix).map(|rest| rest.trim_start_matches('#'));
        after.is_some_and(|rest| rest.starts_with('"'))
    })?;
    let after = text.strip_prefix(prefix)?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let body = after.get(hashes + 1..)?;
    let start = prefix.len() + hashes + 1;
    if prefix.ends_with('r') {
        let end = format!("\"{}", "#".repeat(hashes));
        return Some(body.find(&end).map_or(text.len(), |at| start + at + end.len()));
    }
    if hashes > 0 {
        return None;
    }
    let mut escaped = false;
    for (at, letter) in body.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(start + at + 1),
            _ => {}
        }
    }
    Some(text.len())
}

/// `'a'` and `'\n'` are characters; `'a` is a lifetime.
fn character_or_lifetime(text: &str) -> (Option<Kind>, usize) {
    let mut letters = text.char_indices().skip(1);
    match (letters.next(), letters.next()) {
        (Some((_, '\\')), Some((at, letter))) => {
            let after = at + letter.len_utf8();
            let close = text.get(after..).and_then(|rest| rest.find('\''));
            (Some(Kind::Literal), close.map_or(text.len(), |close| after + close + 1))
        }
        (Some(_), Some((at, '\''))) => (Some(Kind::Literal), at + 1),
        (Some((at, _)), _) => {
            (Some(Kind::Lifetime), at + text.get(at..).map_or(1, |rest| word_length(rest).max(1)))
        }
        (None, _) => (Some(Kind::Mark), 1),
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, tokens};

    #[test]
    fn names_are_distinguished_from_strings_comments_and_lifetimes() {
        let source = "/// A `House`.\nstruct A<'a>(&'a str); /* b /* c */ d */ let x = 'y'; r#\"House \" \"#;\n\"\\\"House\" b'\\'' '\\u{41}' 1_000u64 House";
        let words: Vec<(&str, usize)> = tokens(source)
            .iter()
            .filter(|token| token.kind == Kind::Word)
            .map(|token| (token.text, token.line))
            .collect();
        let expected = [("struct", 2), ("A", 2), ("str", 2), ("let", 2), ("x", 2), ("b", 3), ("House", 3)];
        assert_eq!(words, expected);
        let comments = tokens(source).iter().filter(|token| token.kind == Kind::Comment).count();
        assert_eq!(comments, 2);
    }
}
