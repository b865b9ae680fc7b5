//! The grammar of `-k` and `-m`: names joined by `and`, `or`, `not` and brackets.

/// The option of an expression. Markers may have arguments, keywords may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExpressionKind {
    Keywords,
    Markers,
}

/// Maximum depth of brackets.
const DEEPEST: usize = 50;

/// Whether pytest would accept the expression.
pub(crate) fn is_sound(text: &str, wanted: ExpressionKind) -> bool {
    let Some(tokens) = tokens(text) else { return false };
    let mut parser = Parser { tokens: &tokens, wanted };
    parser.either(0).is_some() && parser.tokens.is_empty()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Open,
    Close,
    Comma,
    Equals,
    Text,
    Word(&'a str),
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | ':' | '+' | '-' | '.' | '[' | ']' | '\\' | '/')
}

fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            ' ' | '\t' => first.len_utf8(),
            '(' | ')' | ',' | '=' => {
                tokens.push(match first {
                    '(' => Token::Open,
                    ')' => Token::Close,
                    ',' => Token::Comma,
                    _ => Token::Equals,
                });
                1
            }
            '\'' | '"' => {
                tokens.push(Token::Text);
                quoted(rest, first)?
            }
            _ => {
                let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
                tokens.push(Token::Word(rest.get(..end).filter(|word| !word.is_empty())?));
                end
            }
        };
        rest = rest.get(length..)?;
    }
    Some(tokens)
}

/// The length of a quoted text. Escapes are not part of the grammar.
fn quoted(rest: &str, quote: char) -> Option<usize> {
    let end = rest.get(1..)?.find(quote)? + 2;
    (!rest.get(..end)?.contains('\\')).then_some(end)
}

struct Parser<'a> {
    tokens: &'a [Token<'a>],
    wanted: ExpressionKind,
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Option<Token<'a>> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(*first)
    }

    fn take(&mut self, wanted: Token<'_>) -> bool {
        let found = self.tokens.first() == Some(&wanted);
        if found {
            self.next();
        }
        found
    }

    fn either(&mut self, depth: usize) -> Option<()> {
        self.both(depth)?;
        while self.take(Token::Word("or")) {
            self.both(depth)?;
        }
        Some(())
    }

    fn both(&mut self, depth: usize) -> Option<()> {
        self.negated(depth)?;
        while self.take(Token::Word("and")) {
            self.negated(depth)?;
        }
        Some(())
    }

    fn negated(&mut self, depth: usize) -> Option<()> {
        while self.take(Token::Word("not")) {}
        match self.next()? {
            Token::Open if depth < DEEPEST => {
                self.either(depth + 1)?;
                self.take(Token::Close).then_some(())
            }
            Token::Word("and" | "or") => None,
            Token::Word(_) if self.wanted == ExpressionKind::Markers && self.take(Token::Open) => {
                self.arguments()
            }
            Token::Word(_) => Some(()),
            _ => None,
        }
    }

    /// Parses `name=value, …)` of a marker.
    fn arguments(&mut self) -> Option<()> {
        loop {
            let Token::Word(name) = self.next()? else { return None };
            let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
            if !plain || !self.take(Token::Equals) {
                return None;
            }
            if !matches!(self.next()?, Token::Word(_) | Token::Text) {
                return None;
            }
            match self.next()? {
                Token::Close => return Some(()),
                Token::Comma => {}
                _ => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ExpressionKind, is_sound};

    #[test]
    fn only_the_grammar_gets_through() {
        let good = [
            "a",
            "not a",
            "a and b",
            "a or b and not c",
            "(a or b) and c",
            "test_x[1]",
            "not not a",
            "a.b::c-d",
            "é",
            "a/b",
            "((a))",
            "-p",
            "-x",
        ];
        for text in good {
            assert!(is_sound(text, ExpressionKind::Keywords), "{text}");
            assert!(is_sound(text, ExpressionKind::Markers), "{text}");
        }
        let bad = [
            "",
            " ",
            "a b",
            "-p evil",
            "and",
            "a and",
            "a or or b",
            "(a",
            "a)",
            "a;b",
            "a=1",
            "$(x)",
            "a\nb",
            "a\0b",
            "import os; x",
            "a & b",
            "__import__('os')",
            "()",
            "a not b",
        ];
        for text in bad {
            assert!(!is_sound(text, ExpressionKind::Keywords), "{text:?}");
        }
        assert!(is_sound("device(serial='1', fast=True) and not slow", ExpressionKind::Markers));
        for text in ["device(serial)", "device(a=b", "device(a.b=1)", "device(a='\\x')", "device(a=1)(b=2)"] {
            assert!(!is_sound(text, ExpressionKind::Markers), "{text}");
        }
        assert!(!is_sound(&"(".repeat(1_000), ExpressionKind::Keywords));
    }
}
