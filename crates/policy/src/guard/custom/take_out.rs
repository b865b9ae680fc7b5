//! Takes out of a message what a custom guard wants taken out. What is left is JSON; what cannot be taken out as it was
//! wished is a failure of the guard, never a message that passes as it was.

use aho_corasick::AhoCorasick;
use failwell_fault::{Fault, OrFault, reason};

use super::opinion::Wish;
use super::places::{Here, Places};
use super::strings::Decoded;
use crate::guard::encoded::encode;
use crate::guard::redact::{Names, holds_code};
use crate::guard::tokens::{Token, Tokens, is_key};

/// By how many bytes a message may grow.
const MOST_ADDED: usize = 1 << 20;
/// How many finds of texts are looked at.
const MOST_FINDS: usize = 1_000_000;

/// A message without what the wish names, and how many stretches that were. What stands before `from` is left alone.
pub fn take_out(json: &[u8], from: usize, label: &str, wish: &Wish) -> Result<(Vec<u8>, usize), Fault> {
    let strings = Strings::of(&wish.strings)?;
    let places = Places::of(&wish.parts).ok_or_else(|| unfit("a place is no JSON Pointer"))?;
    let mut walk = Walk {
        json,
        from,
        label,
        strings,
        places,
        levels: Vec::new(),
        out: Vec::with_capacity(json.len()),
        copied: 0,
        names: Names::default(),
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

/// The texts that are looked for.
struct Strings {
    search: Option<AhoCorasick>,
    met: Vec<bool>,
    finds: usize,
}

impl Strings {
    fn of(texts: &[String]) -> Result<Strings, Fault> {
        let search = match texts {
            [] => None,
            texts => Some(AhoCorasick::new(texts).or_fault(&reason::POLICY_GUARD_FAILED)?),
        };
        Ok(Strings { search, met: vec![false; texts.len()], finds: 0 })
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

/// One level of the way down to a value.
enum Level {
    Object { at: Here, member: Here },
    Array { at: Here, index: usize },
}

struct Walk<'a> {
    json: &'a [u8],
    from: usize,
    label: &'a str,
    strings: Strings,
    places: Places,
    levels: Vec<Level>,
    out: Vec<u8>,
    copied: usize,
    names: Names,
    count: usize,
}

impl Walk<'_> {
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

    /// Where the value that comes next stands.
    fn value(&mut self) -> Here {
        match self.levels.last() {
            None => self.places.root(),
            Some(Level::Object { member, .. }) => *member,
            Some(Level::Array { at: at @ Here::At(_), index }) => {
                let (at, index) = (*at, index.to_string());
                self.places.below(at, &index)
            }
            Some(Level::Array { at, .. }) => *at,
        }
    }

    /// Where the object or list that comes next stands.
    fn container(&mut self) -> Result<Here, Fault> {
        let here = self.value();
        match self.places.ranges(here).is_empty() {
            true => Ok(here),
            false => Err(unfit("a place it names part of holds no text")),
        }
    }

    /// What stands between two strings: brackets, commas, and numbers.
    fn between(&mut self, from: usize, to: usize) -> Result<(), Fault> {
        let mut at = from;
        while let Some(byte) = self.json.get(at).filter(|_| at < to) {
            match byte {
                b'{' => {
                    let here = self.container()?;
                    self.levels.push(Level::Object { at: here, member: Here::Nowhere });
                }
                b'[' => {
                    let here = self.container()?;
                    self.levels.push(Level::Array { at: here, index: 0 });
                }
                b'}' | b']' => drop(self.levels.pop()),
                b',' => {
                    if let Some(Level::Array { index, .. }) = self.levels.last_mut() {
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
        let decoded = Decoded::of(self.json.get(token.start..token.end).unwrap_or_default());
        let name = String::from_utf8_lossy(decoded.text());
        if let Some(Level::Object { at, .. }) = self.levels.last() {
            let below = self.places.below(*at, &name);
            if let Some(Level::Object { member, .. }) = self.levels.last_mut() {
                *member = below;
            }
        }
        self.edit(token, &decoded, Here::Nowhere)
    }

    fn text(&mut self, token: Token, here: Here) -> Result<(), Fault> {
        let decoded = Decoded::of(self.json.get(token.start..token.end).unwrap_or_default());
        self.edit(token, &decoded, here)
    }

    /// Takes out of one string what is to be taken out of it.
    fn edit(&mut self, token: Token, decoded: &Decoded<'_>, here: Here) -> Result<(), Fault> {
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
        if here == Here::Within || (!cuts.is_empty() && holds_code(self.json, token)) {
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

    /// A value without quotes. A number becomes a text; of the others there is nothing to hide.
    fn bare(&mut self, token: Token, here: Here) -> Result<(), Fault> {
        if !self.places.ranges(here).is_empty() {
            return Err(unfit("a place it names part of holds no text"));
        }
        if here != Here::Within {
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

    /// Something that belongs to the protocol and must come back as it is.
    fn untouchable(&self, here: Here) -> Result<(), Fault> {
        match here == Here::Within || !self.places.ranges(here).is_empty() {
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

/// Stretches that overlap or touch are one.
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

/// A wish that cannot be met.
#[track_caller]
fn unfit(what: &'static str) -> Fault {
    Fault::new(&reason::POLICY_GUARD_FAILED).fact("why", "it gave no proper verdict").note("verdict", what)
}
