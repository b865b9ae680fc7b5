//! A filter's words.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Open,
    Close,
    And,
    Or,
    Not,
    /// An operator and its value.
    Term(String, String),
    /// Words looked for in the name.
    Text(String),
}

/// None when a quotation does not end.
pub(super) fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens = vec![];
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        rest = match first {
            '(' => push(&mut tokens, Token::Open, rest.get(1..)?),
            ')' => push(&mut tokens, Token::Close, rest.get(1..)?),
            '"' => {
                let (quoted, after) = quoted(rest)?;
                push(&mut tokens, Token::Text(quoted), after)
            }
            _ => {
                let (token, after) = word(rest)?;
                push(&mut tokens, token, after)
            }
        }
        .trim_start();
    }
    Some(tokens)
}

fn push<'a>(tokens: &mut Vec<Token>, token: Token, rest: &'a str) -> &'a str {
    tokens.push(token);
    rest
}

/// Splits a quoted text from the rest.
fn quoted(text: &str) -> Option<(String, &str)> {
    let (inside, after) = text.strip_prefix('"')?.split_once('"')?;
    Some((inside.to_owned(), after))
}

fn word(text: &str) -> Option<(Token, &str)> {
    let end =
        text.find(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ':' | '"')).unwrap_or(text.len());
    let (name, after) = text.split_at(end);
    if let Some(value) = after.strip_prefix(':') {
        let (value, after) = if value.starts_with('"') {
            quoted(value)?
        } else {
            let end =
                value.find(|c: char| c.is_whitespace() || matches!(c, '(' | ')')).unwrap_or(value.len());
            let (value, after) = value.split_at(end);
            (value.to_owned(), after)
        };
        return Some((Token::Term(name.to_lowercase(), value), after));
    }
    let token = match name.to_lowercase().as_str() {
        "and" => Token::And,
        "or" => Token::Or,
        "not" => Token::Not,
        _ => Token::Text(name.to_owned()),
    };
    Some((token, after))
}
