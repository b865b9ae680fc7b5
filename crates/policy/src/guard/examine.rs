//! Scans the strings of a message: a quick check of each, then an exact match where the check is positive.

use std::cell::RefCell;

use memchr::{memchr, memmem};

use super::category::{Category, Guard};
use super::chain::TextChain;
use super::detect::encoded::{self, EncodedRuns, decode};
use super::detect::hex::{self, HexRuns};
use super::detect::pattern::Span;
use super::detect::secrets::pem::{self, PemBlock};
use super::detect::{Detectors, bits};
use super::detect::{checks, secrets};
use super::escapes;
use super::fold::may_fold;
use super::tokens::{Token, Tokens, is_key};
use super::view::{FoldedText, TextEncoding};

/// A match and its position in the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    /// The string or number that contains the match.
    pub(super) token: Token,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) category: Category,
}

/// Strings shorter than this contain no finding.
const SHORTEST: usize = 6;
/// Minimum length of a line of a key's body; most words are shorter.
const A_LINE: usize = 20;
/// Maximum depth of nested encodings that are decoded.
const DEEPEST: usize = 2;
/// Maximum length of a run that is decoded from every possible offset.
const SHIFTED: usize = 64 * 1024;
/// Larger buffers are freed instead of reused.
const KEPT: usize = 1 << 20;

/// Reusable buffers, so that a message without findings allocates nothing.
#[derive(Debug, Default)]
struct ScanBuffers {
    views: Vec<FoldedText>,
    buffers: Vec<Vec<u8>>,
    spans: Vec<Span>,
}

thread_local! {
    static BUFFERS: RefCell<ScanBuffers> = RefCell::default();
}

/// The part of a message that needs an exact scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScanScope {
    Nothing,
    /// Strings that follow each other, read as one text. Each alone was looked at.
    Chains,
    All,
}

/// Says what needs an exact scan. Makes one pass over the raw bytes and decodes nothing.
pub(super) fn scope(detectors: &Detectors, json: &[u8], wanted: u64) -> ScanScope {
    let any = detectors.may_match(json, wanted)
        || is_disguised(json)
        || encoded::may_be_in(json)
        || escapes::segments(json).next().is_some();
    match any {
        true => ScanScope::All,
        false if has_neighbours(json) => ScanScope::Chains,
        false => ScanScope::Nothing,
    }
}

/// Returns true if the bytes may differ from the text that a reader sees.
fn is_disguised(raw: &[u8]) -> bool {
    !raw.is_ascii() && may_fold(raw) || memchr(b'\\', raw).is_some_and(|first| is_escaped(raw, first))
}

/// Returns true if an ordinary character is escaped. `first` is the position of the first backslash.
fn is_escaped(raw: &[u8], first: usize) -> bool {
    let rest = raw.get(first..).unwrap_or_default();
    memmem::find(rest, b"\\u").is_some() || memmem::find(rest, b"\\/").is_some()
}

/// Returns true if strings follow each other, so that one could continue the other.
fn has_neighbours(json: &[u8]) -> bool {
    memmem::find(json, b"\",\"").is_some() || memmem::find(json, b"\", \"").is_some()
}

/// Finds all matches in a message, starting at a position outside of any string.
pub(super) fn in_json(detectors: &Detectors, json: &[u8], from: usize, wanted: u64) -> Vec<Hit> {
    let mut walk = ScanWalk::new(detectors, json, wanted);
    let mut tokens = Tokens::from(json, from);
    loop {
        let gap = tokens.position();
        let Some(token) = tokens.next() else {
            walk.numbers(gap, json.len());
            break;
        };
        walk.numbers(gap, token.start.saturating_sub(1));
        walk.token(token);
    }
    walk.done()
}

/// Finds the secrets that are split over strings, and nothing else.
pub(super) fn in_chains(detectors: &Detectors, json: &[u8], from: usize, wanted: u64) -> Vec<Hit> {
    let mut walk = ScanWalk::new(detectors, json, wanted & bits(Guard::Secrets));
    for token in Tokens::from(json, from) {
        let raw = json.get(token.start..token.end).unwrap_or_default();
        walk.link(token, raw, is_key(json, token.end + 1));
    }
    walk.done()
}

pub(super) fn in_text(detectors: &Detectors, text: &[u8], wanted: u64) -> Vec<Hit> {
    let mut walk = ScanWalk::new(detectors, text, wanted);
    walk.text(Token { start: 0, end: text.len() }, TextEncoding::Plain);
    walk.done()
}

struct ScanWalk<'a> {
    detectors: &'a Detectors,
    bytes: &'a [u8],
    wanted: u64,
    scratch: ScanBuffers,
    hits: Vec<Hit>,
    /// State of a private key that began in an earlier string.
    block: PemBlock,
    /// End of the last line of the key's body.
    body_end: usize,
    /// The name of the current member says that its value is a secret key.
    named_secret: bool,
    /// Strings that could continue each other: all values, and those of `text` members.
    chains: [TextChain; 2],
    /// The current member is called `text`.
    is_text_member: bool,
}

impl<'a> ScanWalk<'a> {
    fn new(detectors: &'a Detectors, bytes: &'a [u8], wanted: u64) -> ScanWalk<'a> {
        let scratch = BUFFERS.take();
        ScanWalk {
            detectors,
            bytes,
            wanted,
            scratch,
            hits: Vec::new(),
            block: PemBlock::Closed,
            body_end: 0,
            named_secret: false,
            chains: Default::default(),
            is_text_member: false,
        }
    }

    fn done(mut self) -> Vec<Hit> {
        for chain in std::mem::take(&mut self.chains) {
            self.chain(&chain);
        }
        self.scratch.buffers.retain(|buffer| buffer.capacity() <= KEPT);
        self.scratch.views.retain(|view| view.text().len() <= KEPT);
        BUFFERS.replace(self.scratch);
        // A match in an escaped text is often one in the plain text too.
        self.hits.sort_unstable_by_key(|hit| (hit.token.start, hit.start, hit.end, hit.category));
        self.hits.dedup();
        self.hits
    }

    fn token(&mut self, token: Token) {
        let raw = self.bytes.get(token.start..token.end).unwrap_or_default();
        let named = std::mem::take(&mut self.named_secret);
        let is_key = is_key(self.bytes, token.end + 1);
        if is_key {
            self.named_secret = self.wanted & Category::AwsSecretKey.bit() != 0
                && (6..128).contains(&raw.len())
                && secrets::names_aws_secret(raw);
        } else if self.block == PemBlock::Open && self.goes_on(token, raw)
            || named && self.is_aws_secret(token, raw)
        {
            return;
        }
        self.link(token, raw, is_key);
        if raw.len() >= SHORTEST {
            self.text(token, TextEncoding::Json);
        }
    }

    /// Adds a string to the chains that it continues. The name of a member belongs to none.
    fn link(&mut self, token: Token, raw: &[u8], is_key: bool) {
        if is_key {
            self.is_text_member = raw == b"text";
            return;
        }
        if self.wanted & bits(Guard::Secrets) == 0 {
            return;
        }
        let is_text = std::mem::take(&mut self.is_text_member);
        let mut chains = std::mem::take(&mut self.chains);
        for chain in chains.iter_mut().take(if is_text { 2 } else { 1 }) {
            if let Some(ended) = chain.add(token, raw) {
                self.chain(&ended);
            }
        }
        self.chains = chains;
    }

    /// Looks for secrets that are split over the strings of a chain.
    fn chain(&mut self, chain: &TextChain) {
        if chain.parts.len() < 2 || !self.detectors.may_match(&chain.text, self.wanted & bits(Guard::Secrets))
        {
            return;
        }
        let mut spans = Vec::new();
        self.detectors.find(&chain.text, self.wanted & bits(Guard::Secrets), &mut spans);
        for span in spans {
            // Its name and its value are told apart by `:` or `=`, which may come from two strings that have nothing to do
            // with each other, such as `…secret_name.` and `https://…`.
            if span.category == Category::Credential {
                continue;
            }
            let parts: Vec<_> = chain.parts_of(span.start, span.end).collect();
            // A secret that stands in one string whole is found there. What follows it is another value.
            if parts.len() > 1 && !parts.iter().any(|part| self.holds_secret(*part)) {
                for (token, start, end) in parts {
                    self.hit(token, start, end, span.category);
                }
            }
        }
    }

    fn holds_secret(&self, (token, start, end): (Token, usize, usize)) -> bool {
        let text = self.bytes.get(token.start + start..token.start + end).unwrap_or_default();
        let mut spans = Vec::new();
        self.detectors.find(text, self.wanted & bits(Guard::Secrets), &mut spans);
        !spans.is_empty()
    }

    fn text(&mut self, token: Token, spelling: TextEncoding) {
        let raw = self.bytes.get(token.start..token.end).unwrap_or_default();
        let disguised = is_disguised(raw);
        if !disguised && !self.may_match(raw) && escapes::segments(raw).next().is_none() {
            return;
        }
        let mut spans = std::mem::take(&mut self.scratch.spans);
        if disguised || memchr(b'\\', raw).is_some() {
            let view = self.view(raw, spelling);
            self.hidden(token, &view);
            if !disguised || self.may_match(view.text()) {
                self.block = self.scan(view.text(), 0, &mut spans);
            }
            self.escaped(view.text(), &mut spans);
            for span in spans.drain(..) {
                let (start, end) = view.raw(span.start, span.end);
                self.hit(token, start, end, span.category);
            }
            self.scratch.views.push(view);
        } else {
            self.block = self.scan(raw, 0, &mut spans);
            self.escaped(raw, &mut spans);
            for span in spans.drain(..) {
                self.hit(token, span.start, span.end, span.category);
            }
        }
        self.scratch.spans = spans;
    }

    /// Scans the parts of a text with escapes in it as a reader of the decoded text sees them.
    fn escaped(&mut self, text: &[u8], spans: &mut Vec<Span>) {
        for (from, to) in escapes::segments(text) {
            let view = self.view(text.get(from..to).unwrap_or_default(), TextEncoding::Escaped);
            let mut found = Vec::new();
            if self.may_match(view.text()) {
                self.scan(view.text(), 0, &mut found);
            }
            for span in found {
                let (start, end) = view.raw(span.start, span.end);
                spans.push(Span { start: from + start, end: from + end, category: span.category });
            }
            self.scratch.views.push(view);
        }
    }

    fn hidden(&mut self, token: Token, view: &FoldedText) {
        if let (Some((start, end)), true) = (view.hidden(), self.wanted & Category::HiddenText.bit() != 0) {
            self.hit(token, start, end, Category::HiddenText);
        }
    }

    fn hit(&mut self, token: Token, start: usize, end: usize, category: Category) {
        let (mut start, mut end) = (token.start + start, (token.start + end).min(token.end));
        // Widen the match to whole UTF-8 characters.
        let inside = |at: usize| self.bytes.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
        while start > token.start && inside(start) {
            start -= 1;
        }
        while end < token.end && inside(end) {
            end += 1;
        }
        self.hits.push(Hit { token, start, end, category });
    }

    fn may_match(&self, text: &[u8]) -> bool {
        self.detectors.may_match(text, self.wanted) || encoded::may_be_in(text)
    }

    fn view(&mut self, raw: &[u8], spelling: TextEncoding) -> FoldedText {
        let mut view = self.scratch.views.pop().unwrap_or_default();
        view.read(raw, spelling);
        view
    }

    fn scan(&mut self, text: &[u8], depth: usize, spans: &mut Vec<Span>) -> PemBlock {
        let block = self.detectors.find(text, self.wanted, spans);
        if depth < DEEPEST {
            for (start, end) in EncodedRuns::new(text) {
                let found = self.base64(text.get(start..end).unwrap_or_default(), depth + 1);
                mark(found, start, end, spans);
            }
            for (start, end) in HexRuns::new(text) {
                let found = self.hex(text.get(start..end).unwrap_or_default(), depth + 1);
                mark(found, start, end, spans);
            }
        }
        block
    }

    /// Decodes a run and returns the categories found in it; they apply to the whole run. Unreadable parts
    /// are skipped, because all categories are readable text.
    fn base64(&mut self, run: &[u8], depth: usize) -> u64 {
        let mut buffer = self.scratch.buffers.pop().unwrap_or_default();
        let mut found = 0;
        for skip in encoded::beginnings(run) {
            decode(run, skip, &mut buffer);
            for text in encoded::text_in(&buffer) {
                found |= self.within_text(text, depth);
            }
            if found != 0 || run.len() > SHIFTED {
                break;
            }
        }
        self.scratch.buffers.push(buffer);
        found
    }

    fn hex(&mut self, run: &[u8], depth: usize) -> u64 {
        let mut buffer = self.scratch.buffers.pop().unwrap_or_default();
        hex::decode(run, &mut buffer);
        let found = encoded::text_in(&buffer).fold(0, |found, text| found | self.within_text(text, depth));
        self.scratch.buffers.push(buffer);
        found
    }

    fn within_text(&mut self, text: &[u8], depth: usize) -> u64 {
        let disguised = is_disguised(text);
        if !disguised && !self.may_match(text) {
            return 0;
        }
        let mut spans = Vec::new();
        let view = self.view(text, TextEncoding::Plain);
        self.scan(view.text(), depth, &mut spans);
        self.escaped(view.text(), &mut spans);
        let hidden = view.hidden().filter(|_| self.wanted & Category::HiddenText.bit() != 0);
        self.scratch.views.push(view);
        named(&spans) | hidden.map_or(0, |_| Category::HiddenText.bit())
    }

    /// Continues a private key that is split into one string per line.
    fn goes_on(&mut self, token: Token, raw: &[u8]) -> bool {
        let view = self.view(raw, TextEncoding::Json);
        let text = view.text();
        let between = self.bytes.get(self.body_end..token.start.saturating_sub(1)).unwrap_or_default();
        let adjacent = self.body_end > 0 && between.iter().all(|b| b.is_ascii_whitespace() || *b == b',');
        let is_body = pem::is_body(text);
        let mut whole = false;
        if let Some(end) = pem::end_in(text) {
            let (_, end) = view.raw(0, end);
            self.hit(token, 0, end, Category::PrivateKey);
            self.block = PemBlock::Closed;
        } else if is_body && (text.len() >= A_LINE || adjacent) {
            self.hit(token, 0, raw.len(), Category::PrivateKey);
            self.body_end = token.end + 1;
            whole = true;
        } else if !is_body && text.len() >= A_LINE && memchr(b':', text).is_none() {
            self.block = PemBlock::Closed;
        }
        self.scratch.views.push(view);
        whole
    }

    fn is_aws_secret(&mut self, token: Token, raw: &[u8]) -> bool {
        let view = self.view(raw, TextEncoding::Json);
        let is_one = secrets::is_aws_secret(view.text());
        self.scratch.views.push(view);
        if is_one {
            self.hit(token, 0, raw.len(), Category::AwsSecretKey);
        }
        is_one
    }

    /// Looks for card numbers among numbers outside of strings.
    fn numbers(&mut self, from: usize, to: usize) {
        if self.wanted & Category::CreditCard.bit() == 0 || to.saturating_sub(from) < 13 {
            return;
        }
        let mut at = from;
        while let Some(first) = self.bytes.get(at..to).and_then(|gap| gap.iter().position(u8::is_ascii_digit))
        {
            let start = at + first;
            let is_part = |b: &&u8| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-');
            let length = self.bytes.get(start..to).unwrap_or_default().iter().take_while(is_part).count();
            let number = self.bytes.get(start..start + length).unwrap_or_default();
            let negative = start > 0 && self.bytes.get(start - 1) == Some(&b'-');
            if (13..=19).contains(&length)
                && !negative
                && number.iter().all(u8::is_ascii_digit)
                && checks::card(number)
            {
                let token = Token { start, end: start + length };
                self.hits.push(Hit { token, start, end: start + length, category: Category::CreditCard });
            }
            at = start + length.max(1);
        }
    }
}

/// Marks a run with the categories that were found in it.
fn mark(found: u64, start: usize, end: usize, spans: &mut Vec<Span>) {
    let named = Category::all().filter(|category| found & category.bit() != 0);
    spans.extend(named.map(|category| Span { start, end, category }));
}

fn named(spans: &[Span]) -> u64 {
    spans.iter().fold(0, |bits, span| bits | span.category.bit())
}
