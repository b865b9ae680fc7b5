//! Replaces findings with labels. The output is valid JSON for findings in any position.

use std::collections::{HashMap, HashSet};

use memchr::memmem;

use super::category::Category;
use super::detect::encoded::encode;
use super::examine::Hit;
use super::tokens::{Token, Tokens, is_key};

/// One range to replace. Overlapping findings are merged and labelled by the widest.
struct Edit {
    token: Token,
    start: usize,
    end: usize,
    category: Category,
    widest: usize,
}

/// Redacts the hits, which must be in message order.
pub(super) fn from_json(json: &[u8], hits: &[Hit]) -> Vec<u8> {
    let mut out = RedactedText {
        json,
        bytes: Vec::with_capacity(json.len()),
        copied: 0,
        names: MemberNames::default(),
    };
    let edits = merged(hits);
    for of_token in edits.chunk_by(|a, b| a.token == b.token) {
        out.token(of_token);
    }
    out.copy_to(json.len());
    out.bytes
}

pub(super) fn from_text(text: &[u8], hits: &[Hit]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut copied = 0;
    for edit in merged(hits) {
        bytes.extend_from_slice(text.get(copied..edit.start).unwrap_or_default());
        bytes.extend_from_slice(edit.category.label().as_bytes());
        copied = edit.end;
    }
    bytes.extend_from_slice(text.get(copied..).unwrap_or_default());
    bytes
}

fn merged(hits: &[Hit]) -> Vec<Edit> {
    let mut sorted: Vec<&Hit> = hits.iter().collect();
    sorted.sort_by_key(|hit| (hit.start, hit.end));
    let mut edits: Vec<Edit> = Vec::with_capacity(sorted.len());
    for hit in sorted {
        let width = hit.end - hit.start;
        match edits.last_mut() {
            Some(last) if last.token == hit.token && hit.start < last.end => {
                last.end = last.end.max(hit.end);
                if width > last.widest {
                    (last.widest, last.category) = (width, hit.category);
                }
            }
            _ => edits.push(Edit {
                token: hit.token,
                start: hit.start,
                end: hit.end,
                category: hit.category,
                widest: width,
            }),
        }
    }
    edits
}

struct RedactedText<'a> {
    json: &'a [u8],
    bytes: Vec<u8>,
    copied: usize,
    names: MemberNames,
}

impl RedactedText<'_> {
    fn copy_to(&mut self, end: usize) {
        self.bytes.extend_from_slice(self.json.get(self.copied..end).unwrap_or_default());
        self.copied = end.max(self.copied);
    }

    fn token(&mut self, edits: &[Edit]) {
        let Some(first) = edits.first() else { return };
        let token = first.token;
        if !self.is_string(token) {
            return self.number(token, first.category);
        }
        self.copy_to(token.start);
        let begins = self.bytes.len();
        for edit in edits {
            self.copy_to(edit.start);
            if edit.start == token.start && edit.end == token.end && holds_code(self.json, token) {
                encode(edit.category.label(), &mut self.bytes);
            } else {
                self.bytes.extend_from_slice(edit.category.label().as_bytes());
            }
            self.copied = edit.end;
        }
        self.copy_to(token.end);
        if is_key(self.json, token.end + 1) {
            let name = self.bytes.split_off(begins);
            self.bytes.extend(self.names.unique(self.json, name));
        }
    }

    /// Replaces a number with a string, so that the output is JSON.
    fn number(&mut self, token: Token, category: Category) {
        self.copy_to(token.start);
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(category.label().as_bytes());
        self.bytes.push(b'"');
        self.copied = token.end;
    }

    fn is_string(&self, token: Token) -> bool {
        token.start.checked_sub(1).and_then(|quote| self.json.get(quote)) == Some(&b'"')
    }
}

/// Returns true if the protocol requires base64 in this position.
pub(super) fn holds_code(json: &[u8], token: Token) -> bool {
    let ahead = json.get(..token.start.saturating_sub(1)).unwrap_or_default().trim_ascii_end();
    let name = ahead.strip_suffix(b":").map(<[u8]>::trim_ascii_end);
    name.is_some_and(|name| name.ends_with(b"\"data\"") || name.ends_with(b"\"blob\""))
}

/// Keeps redacted member names distinct from each other and from existing names.
#[derive(Default)]
pub(super) struct MemberNames {
    taken: Option<HashSet<Vec<u8>>>,
    counts: HashMap<Vec<u8>, usize>,
}

impl MemberNames {
    pub(super) fn unique(&mut self, json: &[u8], name: Vec<u8>) -> Vec<u8> {
        let taken = self.taken.get_or_insert_with(|| redacted_names(json));
        if taken.insert(name.clone()) {
            return name;
        }
        let count = self.counts.entry(name.clone()).or_insert(1);
        loop {
            *count += 1;
            let mut numbered = name.clone();
            numbered.extend_from_slice(format!(" #{count}").as_bytes());
            if taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

/// The existing names that a redacted name can collide with.
fn redacted_names(json: &[u8]) -> HashSet<Vec<u8>> {
    let names = Tokens::from(json, 0).filter(|token| is_key(json, token.end + 1));
    let texts = names.filter_map(|token| json.get(token.start..token.end));
    texts.filter(|name| memmem::find(name, b"[redacted: ").is_some()).map(<[u8]>::to_vec).collect()
}
