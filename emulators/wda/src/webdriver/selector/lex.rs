//! The words of a selector.

use crate::webdriver::webdriver_error::WebDriverError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Name(String),
    Text(String),
    Number(i32),
    Mark(&'static str),
}

/// Longer marks before those they begin with.
const MARKS: [&str; 23] = [
    "//", "..", "==", "!=", "<=", ">=", "&&", "||", "/", ".", "=", "<", ">", "!", "(", ")", "[", "]", "{",
    "}", ",", "@", "*",
];

pub(super) fn words(text: &str) -> Result<Vec<Token>, WebDriverError> {
    let mut words = vec![];
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (word, after) = if first == '"' || first == '\'' {
            quoted(rest, first)?
        } else if first.is_ascii_digit()
            || (first == '-' && rest.chars().nth(1).is_some_and(|c| c.is_ascii_digit()))
        {
            number(rest)?
        } else if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            (Token::Mark(mark), rest.get(mark.len()..).unwrap_or_default())
        } else if first.is_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            (Token::Name(name.to_owned()), after)
        } else {
            return Err(WebDriverError::invalid_selector(format!("{first} cannot stand in a selector")));
        };
        words.push(word);
        rest = after.trim_start();
    }
    Ok(words)
}

fn quoted(text: &str, quote: char) -> Result<(Token, &str), WebDriverError> {
    let mut value = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            end if end == quote => {
                let after = text.get(at + quote.len_utf8()..).unwrap_or_default();
                return Ok((Token::Text(value), after));
            }
            other => value.push(other),
        }
    }
    Err(WebDriverError::invalid_selector("a text has no end"))
}

fn number(text: &str) -> Result<(Token, &str), WebDriverError> {
    let end = text.char_indices().skip(1).find(|(_, c)| !c.is_ascii_digit()).map_or(text.len(), |(at, _)| at);
    let (digits, after) = text.split_at(end);
    let number = digits.parse().map_err(|_| WebDriverError::invalid_selector("a number is too large"))?;
    Ok((Token::Number(number), after))
}

/// Words being read.
pub(super) struct TokenStream {
    words: std::iter::Peekable<std::vec::IntoIter<Token>>,
    depth: usize,
}

impl TokenStream {
    pub(super) fn new(text: &str) -> Result<TokenStream, WebDriverError> {
        Ok(TokenStream { words: words(text)?.into_iter().peekable(), depth: 0 })
    }

    pub(super) fn next(&mut self) -> Option<Token> {
        self.words.next()
    }

    /// Takes a mark, if it is the next word.
    pub(super) fn takes(&mut self, mark: &str) -> bool {
        self.words.next_if(|word| matches!(word, Token::Mark(found) if *found == mark)).is_some()
    }

    /// Takes a name, however it is written, if it is the next word.
    pub(super) fn takes_name(&mut self, name: &str) -> bool {
        self.words
            .next_if(|word| matches!(word, Token::Name(found) if found.eq_ignore_ascii_case(name)))
            .is_some()
    }

    pub(super) fn expect(&mut self, mark: &str) -> Result<(), WebDriverError> {
        if self.takes(mark) {
            Ok(())
        } else {
            Err(WebDriverError::invalid_selector(format!("{mark} is missing")))
        }
    }

    pub(super) fn name(&mut self) -> Result<String, WebDriverError> {
        match self.next() {
            Some(Token::Name(name)) => Ok(name),
            other => Err(unexpected_token(other.as_ref())),
        }
    }

    pub(super) fn text(&mut self) -> Result<String, WebDriverError> {
        match self.next() {
            Some(Token::Text(text)) => Ok(text),
            other => Err(unexpected_token(other.as_ref())),
        }
    }

    pub(super) fn end(&mut self) -> Result<(), WebDriverError> {
        match self.next() {
            None => Ok(()),
            more => Err(unexpected_token(more.as_ref())),
        }
    }

    /// Reads something inside something else; not without end.
    pub(super) fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut TokenStream) -> Result<T, WebDriverError>,
    ) -> Result<T, WebDriverError> {
        self.depth += 1;
        if self.depth > super::DEEPEST {
            return Err(WebDriverError::invalid_selector("the selector nests too deeply"));
        }
        let found = read(self);
        self.depth -= 1;
        found
    }
}

pub(super) fn unexpected_token(word: Option<&Token>) -> WebDriverError {
    WebDriverError::invalid_selector(match word {
        None => "the selector ends too early".to_owned(),
        Some(Token::Name(text) | Token::Text(text)) => format!("'{text}' is not expected here"),
        Some(Token::Number(number)) => format!("{number} is not expected here"),
        Some(Token::Mark(mark)) => format!("{mark} is not expected here"),
    })
}
