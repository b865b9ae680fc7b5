//! Redacts the parts of a message that a custom guard names. The output is valid JSON. A redaction that
//! cannot be applied is a failure of the guard; the message never passes unchanged.

use aho_corasick::AhoCorasick;
use failwell_fault::{Fault, OrFault, reason};

use super::decoded_string::DecodedString;
use super::pointer_tree::{PointerTree, TreePosition};
use super::verdict::RedactionRequest;
use crate::guard::detect::encoded::encode;
use crate::guard::redact::{MemberNames, holds_code};
use crate::guard::tokens::{Token, Tokens, is_key};

/// Maximum number of bytes that labels may add to a message.
const MOST_ADDED: usize = 1 << 20;
/// Maximum number of matches of the given texts.
const MOST_FINDS: usize = 1_000_000;

/// Redacts a message and returns the number of replaced ranges. Bytes before `from` stay unchanged.
pub fn redact(
    json: &[u8],
    from: usize,
    label: &str,
    request: &RedactionRequest,
) -> Result<(Vec<u8>, usize), Fault> {
    let strings = TextMatcher::compile(&request.strings)?;
    let places = PointerTree::new(&request.parts).ok_or_else(|| unfit("a place is no JSON Pointer"))?;
    let mut walk = RedactionWalk {
        json,
        from,
        label,
        strings,
        places,
        levels: Vec::new(),
        out: Vec::with_capacity(json.len()),
        copied: 0,
        names: MemberNames::default(),
        count: 0,
    };
    walk.run()?;
    if !walk.places.were_met() {
        return Err(unfit("a place it names is not there"));
    }
    if !walk.strings.were_met() {
        return Err(unfit("a text it names is not there"));
    }
    walk.copy_to(json.len());
    Ok((walk.out, walk.count))
}

/// Searches for the texts of a redaction.
struct TextMatcher {
    search: Option<AhoCorasick>,
    met: Vec<bool>,
    finds: usize,
}

impl TextMatcher {
    fn compile(texts: &[String]) -> Result<TextMatcher, Fault> {
        let search = match texts {
            [] => None,
            texts => Some(AhoCorasick::new(texts).or_fault(&reason::POLICY_GUARD_FAILED)?),
        };
        Ok(TextMatcher { search, met: vec![false; texts.len()], finds: 0 })
    }

    fn find(&mut self, text: &[u8], mut found: impl FnMut(usize, usize)) -> Result<(), Fault> {
        let Some(search) = &self.search else { return Ok(()) };
        let finds = search.try_find_overlapping_iter(text).or_fault(&reason::POLICY_GUARD_FAILED)?;
        for find in finds {
            self.finds += 1;
            if self.finds > MOST_FINDS {
                return Err(unfit("the texts it names are there too often"));
            }
            if let Some(met) = self.met.get_mut(find.pattern().as_usize()) {
                *met = true;
            }
            found(find.start(), find.end());
        }
        Ok(())
    }

    fn were_met(&self) -> bool {
        self.met.iter().all(|met| *met)
    }
}

/// One open object or array on the path to a value.
enum RedactLevel {
    Object { at: TreePosition, member: TreePosition },
    Array { at: TreePosition, index: usize },
}

struct RedactionWalk<'a> {
    json: &'a [u8],
    from: usize,
    label: &'a str,
    strings: TextMatcher,
    places: PointerTree,
    levels: Vec<RedactLevel>,
    out: Vec<u8>,
    copied: usize,
    names: MemberNames,
    count: usize,
}

impl RedactionWalk<'_> {
    fn run(&mut self) -> Result<(), Fault> {
        let mut tokens = Tokens::from(self.json, 0);
        loop {
            let gap = tokens.position();
            let Some(token) = tokens.next() else { return self.between(gap, self.json.len()) };
            self.between(gap, token.start.saturating_sub(1))?;
            match is_key(self.json, token.end + 1) {
                true => self.key(token)?,
                false => {
                    let here = self.value();
                    self.text(token, here)?;
                }
            }
        }
    }

    /// The tree position of the next value.
    fn value(&mut self) -> TreePosition {
        match self.levels.last() {
            None => self.places.root(),
            Some(RedactLevel::Object { member, .. }) => *member,
            Some(RedactLevel::Array { at: at @ TreePosition::At(_), index }) => {
                let (at, index) = (*at, index.to_string());
                self.places.below(at, &index)
            }
            Some(RedactLevel::Array { at, .. }) => *at,
        }
    }

    /// The tree position of the next object or array.
    fn container(&mut self) -> Result<TreePosition, Fault> {
        let here = self.value();
        match self.places.ranges(here).is_empty() {
            true => Ok(here),
            false => Err(unfit("a place it names part of holds no text")),
        }
    }

    /// Reads the bytes between two strings: brackets, commas and numbers.
    fn between(&mut self, from: usize, to: usize) -> Result<(), Fault> {
        let mut at = from;
        while let Some(byte) = self.json.get(at).filter(|_| at < to) {
            match byte {
                b'{' => {
                    let here = self.container()?;
                    self.levels.push(RedactLevel::Object { at: here, member: TreePosition::Nowhere });
                }
                b'[' => {
                    let here = self.container()?;
                    self.levels.push(RedactLevel::Array { at: here, index: 0 });
                }
                b'}' | b']' => drop(self.levels.pop()),
                b',' => {
                    if let Some(RedactLevel::Array { index, .. }) = self.levels.last_mut() {
                        *index += 1;
                    }
                }
                b'-' | b'0'..=b'9' => {
                    let rest = self.json.get(at..to).unwrap_or_default();
                    let is_part =
                        |b: &u8| b.is_ascii_digit() || matches!(b, b'-' | b'+' | b'.' | b'e' | b'E');
                    let length = rest.iter().take_while(|b| is_part(b)).count();
                    let here = self.value();
                    self.bare(Token { start: at, end: at + length }, here)?;
                    at += length;
                    continue;
                }
                b't' | b'f' | b'n' => {
                    let rest = self.json.get(at..to).unwrap_or_default();
                    let length = rest.iter().take_while(|b| b.is_ascii_lowercase()).count();
                    let here = self.value();
                    self.bare(Token { start: at, end: at + length }, here)?;
                    at += length;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        Ok(())
    }

    fn key(&mut self, token: Token) -> Result<(), Fault> {
        let decoded = DecodedString::decode(self.json.get(token.start..token.end).unwrap_or_default());
        let name = String::from_utf8_lossy(decoded.text());
        if let Some(RedactLevel::Object { at, .. }) = self.levels.last() {
            let below = self.places.below(*at, &name);
            if let Some(RedactLevel::Object { member, .. }) = self.levels.last_mut() {
                *member = below;
            }
        }
        self.edit(token, &decoded, TreePosition::Nowhere)
    }

    fn text(&mut self, token: Token, here: TreePosition) -> Result<(), Fault> {
        let decoded = DecodedString::decode(self.json.get(token.start..token.end).unwrap_or_default());
        self.edit(token, &decoded, here)
    }

    fn edit(&mut self, token: Token, decoded: &DecodedString<'_>, here: TreePosition) -> Result<(), Fault> {
        if token.start < self.from {
            return self.untouchable(here);
        }
        let mut cuts: Vec<(usize, usize)> = Vec::new();
        self.strings.find(decoded.text(), |start, end| cuts.push((start, end)))?;
        for (start, end) in self.places.ranges(here) {
            if *end > decoded.text().len() {
                return Err(unfit("a place it names ends after its text"));
            }
            cuts.push((*start, *end));
        }
        if here == TreePosition::Within || (!cuts.is_empty() && holds_code(self.json, token)) {
            return self.replace_whole(token);
        }
        if cuts.is_empty() {
            return Ok(());
        }
        self.copy_to(token.start);
        let begins = self.out.len();
        for (start, end) in merged(cuts) {
            let (start, end) = decoded.raw(start, end);
            self.copy_to(token.start + start);
            self.put_label()?;
            self.copied = token.start + end;
        }
        self.copy_to(token.end);
        if is_key(self.json, token.end + 1) {
            let name = self.out.split_off(begins);
            self.out.extend(self.names.unique(self.json, name));
        }
        Ok(())
    }

    fn replace_whole(&mut self, token: Token) -> Result<(), Fault> {
        self.copy_to(token.start);
        if holds_code(self.json, token) {
            encode(self.label, &mut self.out);
            self.count += 1;
        } else {
            self.put_label()?;
        }
        self.copied = token.end;
        Ok(())
    }

    /// Redacts a value without quotes. A number becomes a string; `true`, `false` and `null` reveal nothing
    /// and stay.
    fn bare(&mut self, token: Token, here: TreePosition) -> Result<(), Fault> {
        if !self.places.ranges(here).is_empty() {
            return Err(unfit("a place it names part of holds no text"));
        }
        if here != TreePosition::Within {
            return Ok(());
        }
        if token.start < self.from {
            return self.untouchable(here);
        }
        if self.json.get(token.start).is_some_and(u8::is_ascii_lowercase) {
            return Ok(());
        }
        self.copy_to(token.start);
        self.out.push(b'"');
        self.put_label()?;
        self.out.push(b'"');
        self.copied = token.end;
        Ok(())
    }

    /// Refuses to redact a part that belongs to the protocol and must be echoed exactly.
    fn untouchable(&self, here: TreePosition) -> Result<(), Fault> {
        match here == TreePosition::Within || !self.places.ranges(here).is_empty() {
            true => Err(unfit("a place it names belongs to the protocol")),
            false => Ok(()),
        }
    }

    fn put_label(&mut self) -> Result<(), Fault> {
        self.count += 1;
        self.out.extend_from_slice(self.label.as_bytes());
        match self.out.len() > self.json.len() + MOST_ADDED {
            true => Err(unfit("the message would grow too much")),
            false => Ok(()),
        }
    }

    fn copy_to(&mut self, end: usize) {
        self.out.extend_from_slice(self.json.get(self.copied..end).unwrap_or_default());
        self.copied = end.max(self.copied);
    }
}

/// Merges ranges that overlap or touch.
fn merged(mut cuts: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    cuts.sort_unstable();
    let mut all: Vec<(usize, usize)> = Vec::with_capacity(cuts.len());
    for (start, end) in cuts {
        match all.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => all.push((start, end)),
        }
    }
    all
}

/// The fault for a redaction that cannot be applied.
#[track_caller]
fn unfit(what: &'static str) -> Fault {
    Fault::new(&reason::POLICY_GUARD_FAILED).fact("why", "it gave no proper verdict").note("verdict", what)
}
