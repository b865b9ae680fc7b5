//! Strings that follow each other, read as one text: a secret may be split over them.

use super::detect::pattern::is_token;
use super::tokens::Token;

/// The most bytes of each end of a string that can belong to a split secret.
const MOST_OF_ONE: usize = 512;
/// The longest chain.
const MOST: usize = 8 * 1024;

/// The ends and beginnings of adjacent strings, joined.
#[derive(Debug, Default)]
pub(super) struct TextChain {
    pub(super) text: Vec<u8>,
    pub(super) parts: Vec<ChainPart>,
}

/// One string of a chain.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChainPart {
    token: Token,
    /// The start of the part in its string, and in the chain.
    from: usize,
    at: usize,
}

impl TextChain {
    /// Adds a string. Returns the chain that ends with its beginning, if the string as a whole does not go on.
    pub(super) fn add(&mut self, token: Token, raw: &[u8]) -> Option<TextChain> {
        let is_part = |byte: &&u8| is_token(**byte) || matches!(**byte, b'.' | b':' | b'=');
        let first = raw.iter().take(MOST_OF_ONE).take_while(is_part).count();
        self.push(token, 0, raw.get(..first).unwrap_or_default());
        if first == raw.len() && self.text.len() < MOST {
            return None;
        }
        let ended = std::mem::take(self);
        let last = raw.iter().rev().take(MOST_OF_ONE).take_while(is_part).count();
        self.push(token, raw.len() - last, raw.get(raw.len() - last..).unwrap_or_default());
        Some(ended)
    }

    fn push(&mut self, token: Token, from: usize, part: &[u8]) {
        if !part.is_empty() {
            self.parts.push(ChainPart { token, from, at: self.text.len() });
            self.text.extend_from_slice(part);
        }
    }

    /// The ranges in each string that a range of the chain covers.
    pub(super) fn parts_of(&self, start: usize, end: usize) -> impl Iterator<Item = (Token, usize, usize)> {
        let ends = self.parts.iter().skip(1).map(|part| part.at).chain([self.text.len()]);
        self.parts.iter().zip(ends).filter_map(move |(part, part_end)| {
            let (first, last) = (start.max(part.at), end.min(part_end));
            (first < last).then(|| (part.token, part.from + first - part.at, part.from + last - part.at))
        })
    }
}
