//! The words of a selector.

use crate::refusal::Refusal;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
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

pub(super) fn words(text: &str) -> Result<Vec<Word>, Refusal> {
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
            (Word::Mark(mark), rest.get(mark.len()..).unwrap_or_default())
        } else if first.is_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            (Word::Name(name.to_owned()), after)
        } else {
            return Err(Refusal::invalid_selector(format!("{first} cannot stand in a selector")));
        };
        words.push(word);
        rest = after.trim_start();
    }
    Ok(words)
}

fn quoted(text: &str, quote: char) -> Result<(Word, &str), Refusal> {
    let mut value = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            end if end == quote => {
                let after = text.get(at + quote.len_utf8()..).unwrap_or_default();
                return Ok((Word::Text(value), after));
            }
            other => value.push(other),
        }
    }
    Err(Refusal::invalid_selector("a text has no end"))
}

fn number(text: &str) -> Result<(Word, &str), Refusal> {
    let end = text.char_indices().skip(1).find(|(_, c)| !c.is_ascii_digit()).map_or(text.len(), |(at, _)| at);
    let (digits, after) = text.split_at(end);
    let number = digits.parse().map_err(|_| Refusal::invalid_selector("a number is too large"))?;
    Ok((Word::Number(number), after))
}

/// Words being read.
pub(super) struct Words {
    words: std::iter::Peekable<std::vec::IntoIter<Word>>,
    depth: usize,
}

impl Words {
    pub(super) fn of(text: &str) -> Result<Words, Refusal> {
        Ok(Words { words: words(text)?.into_iter().peekable(), depth: 0 })
    }

    pub(super) fn next(&mut self) -> Option<Word> {
        self.words.next()
    }

    /// Takes a mark, if it is the next word.
    pub(super) fn takes(&mut self, mark: &str) -> bool {
        self.words.next_if(|word| matches!(word, Word::Mark(found) if *found == mark)).is_some()
    }

    /// Takes a name, however it is written, if it is the next word.
    pub(super) fn takes_name(&mut self, name: &str) -> bool {
        self.words
            .next_if(|word| matches!(word, Word::Name(found) if found.eq_ignore_ascii_case(name)))
            .is_some()
    }

    pub(super) fn expect(&mut self, mark: &str) -> Result<(), Refusal> {
        if self.takes(mark) { Ok(()) } else { Err(Refusal::invalid_selector(format!("{mark} is missing"))) }
    }

    pub(super) fn name(&mut self) -> Result<String, Refusal> {
        match self.next() {
            Some(Word::Name(name)) => Ok(name),
            other => Err(surprise(other.as_ref())),
        }
    }

    pub(super) fn text(&mut self) -> Result<String, Refusal> {
        match self.next() {
            Some(Word::Text(text)) => Ok(text),
            other => Err(surprise(other.as_ref())),
        }
    }

    pub(super) fn end(&mut self) -> Result<(), Refusal> {
        match self.next() {
            None => Ok(()),
            more => Err(surprise(more.as_ref())),
        }
    }

    /// Reads something inside something else; not without end.
    pub(super) fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Words) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        self.depth += 1;
        if self.depth > super::DEEPEST {
            return Err(Refusal::invalid_selector("the selector nests too deeply"));
        }
        let found = read(self);
        self.depth -= 1;
        found
    }
}

pub(super) fn surprise(word: Option<&Word>) -> Refusal {
    Refusal::invalid_selector(match word {
        None => "the selector ends too early".to_owned(),
        Some(Word::Name(text) | Word::Text(text)) => format!("'{text}' is not expected here"),
        Some(Word::Number(number)) => format!("{number} is not expected here"),
        Some(Word::Mark(mark)) => format!("{mark} is not expected here"),
    })
}
