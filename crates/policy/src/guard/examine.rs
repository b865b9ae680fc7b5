//! One walk over the strings of a message, with a quick look at each and an exact one where it pays.

use std::cell::RefCell;

use memchr::{memchr, memmem};

use super::category::Category;
use super::detector::Detectors;
use super::encoded::{self, Runs, decode};
use super::fold::may_fold;
use super::pattern::Span;
use super::pem::{self, Block};
use super::tokens::{Token, Tokens, is_key};
use super::view::{Spelling, View};
use super::{checks, secrets};

/// Something found, by its place in the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    /// The string or number it is in.
    pub(super) token: Token,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) category: Category,
}

/// No finding is shorter.
const SHORTEST: usize = 6;
/// A line of a key's body is longer than most words.
const A_LINE: usize = 20;
/// Text encoded more often than this is left alone.
const DEEPEST: usize = 2;
/// Runs up to this length are decoded from every place they may begin at.
const SHIFTED: usize = 64 * 1024;
/// Room larger than this is given back.
const KEPT: usize = 1 << 20;

/// Room that is used again, so that a message without findings allocates nothing.
#[derive(Debug, Default)]
struct Room {
    views: Vec<View>,
    buffers: Vec<Vec<u8>>,
    spans: Vec<Span>,
}

thread_local! {
    static ROOM: RefCell<Room> = RefCell::default();
}

/// Whether a whole message needs a closer look at all: one pass over its bytes, nothing decoded.
pub(super) fn stirs(detectors: &Detectors, json: &[u8], wanted: u64) -> bool {
    detectors.stirs(json, wanted) || is_dressed(json) || encoded::may_be_in(json)
}

/// Whether a text may mean something else than its bytes say.
fn is_dressed(raw: &[u8]) -> bool {
    !raw.is_ascii() && may_fold(raw) || memchr(b'\\', raw).is_some_and(|first| is_escaped(raw, first))
}

/// Whether an ordinary character is written as an escape, from the first backslash on.
fn is_escaped(raw: &[u8], first: usize) -> bool {
    let rest = raw.get(first..).unwrap_or_default();
    memmem::find(rest, b"\\u").is_some() || memmem::find(rest, b"\\/").is_some()
}

/// Finds everything in a message from a place on that is outside of any string.
pub(super) fn in_json(detectors: &Detectors, json: &[u8], from: usize, wanted: u64) -> Vec<Hit> {
    let mut walk = Walk::new(detectors, json, wanted);
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

/// Finds everything in plain text.
pub(super) fn in_text(detectors: &Detectors, text: &[u8], wanted: u64) -> Vec<Hit> {
    let mut walk = Walk::new(detectors, text, wanted);
    walk.text(Token { start: 0, end: text.len() }, Spelling::Plain);
    walk.done()
}

struct Walk<'a> {
    detectors: &'a Detectors,
    bytes: &'a [u8],
    wanted: u64,
    room: Room,
    hits: Vec<Hit>,
    /// A private key that began in an earlier string.
    block: Block,
    /// Where the last line of its body ended.
    body_end: usize,
    /// Whether the member's name says that its value is a key.
    named_secret: bool,
}

impl<'a> Walk<'a> {
    fn new(detectors: &'a Detectors, bytes: &'a [u8], wanted: u64) -> Walk<'a> {
        let room = ROOM.take();
        Walk {
            detectors,
            bytes,
            wanted,
            room,
            hits: Vec::new(),
            block: Block::Closed,
            body_end: 0,
            named_secret: false,
        }
    }

    fn done(mut self) -> Vec<Hit> {
        self.room.buffers.retain(|buffer| buffer.capacity() <= KEPT);
        self.room.views.retain(|view| view.text().len() <= KEPT);
        ROOM.replace(self.room);
        self.hits
    }

    fn token(&mut self, token: Token) {
        let raw = self.bytes.get(token.start..token.end).unwrap_or_default();
        let named = std::mem::take(&mut self.named_secret);
        if is_key(self.bytes, token.end + 1) {
            self.named_secret = self.wanted & Category::AwsSecretKey.bit() != 0
                && (6..128).contains(&raw.len())
                && secrets::names_aws_secret(raw);
        } else if self.block == Block::Open && self.goes_on(token, raw)
            || named && self.is_aws_secret(token, raw)
        {
            return;
        }
        if raw.len() >= SHORTEST {
            self.text(token, Spelling::Json);
        }
    }

    fn text(&mut self, token: Token, spelling: Spelling) {
        let raw = self.bytes.get(token.start..token.end).unwrap_or_default();
        let dressed = is_dressed(raw);
        if !dressed && !self.stirs(raw) {
            return;
        }
        let mut spans = std::mem::take(&mut self.room.spans);
        if dressed || memchr(b'\\', raw).is_some() {
            let view = self.view(raw, spelling);
            self.hidden(token, &view);
            if !dressed || self.stirs(view.text()) {
                self.block = self.scan(view.text(), 0, &mut spans);
                for span in spans.drain(..) {
                    let (start, end) = view.raw(span.start, span.end);
                    self.hit(token, start, end, span.category);
                }
            }
            self.room.views.push(view);
        } else {
            self.block = self.scan(raw, 0, &mut spans);
            for span in spans.drain(..) {
                self.hit(token, span.start, span.end, span.category);
            }
        }
        self.room.spans = spans;
    }

    fn hidden(&mut self, token: Token, view: &View) {
        if let (Some((start, end)), true) = (view.hidden(), self.wanted & Category::HiddenText.bit() != 0) {
            self.hit(token, start, end, Category::HiddenText);
        }
    }

    fn hit(&mut self, token: Token, start: usize, end: usize, category: Category) {
        let (mut start, mut end) = (token.start + start, (token.start + end).min(token.end));
        // Bytes of one character stay together.
        let inside = |at: usize| self.bytes.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
        while start > token.start && inside(start) {
            start -= 1;
        }
        while end < token.end && inside(end) {
            end += 1;
        }
        self.hits.push(Hit { token, start, end, category });
    }

    fn stirs(&self, text: &[u8]) -> bool {
        self.detectors.stirs(text, self.wanted) || encoded::may_be_in(text)
    }

    fn view(&mut self, raw: &[u8], spelling: Spelling) -> View {
        let mut view = self.room.views.pop().unwrap_or_default();
        view.read(raw, spelling);
        view
    }

    fn scan(&mut self, text: &[u8], depth: usize, spans: &mut Vec<Span>) -> Block {
        let block = self.detectors.find(text, self.wanted, spans);
        if depth < DEEPEST {
            for (start, end) in Runs::of(text) {
                let run = text.get(start..end).unwrap_or_default();
                let found = self.encoded(run, depth + 1);
                let named = Category::all().filter(|category| found & category.bit() != 0);
                spans.extend(named.map(|category| Span { start, end, category }));
            }
        }
        block
    }

    /// What an encoded text holds, if anything: the whole of it counts as that. Whatever is looked for is readable,
    /// so the parts that are not are passed over.
    fn encoded(&mut self, run: &[u8], depth: usize) -> u64 {
        let mut buffer = self.room.buffers.pop().unwrap_or_default();
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
        self.room.buffers.push(buffer);
        found
    }

    fn within_text(&mut self, text: &[u8], depth: usize) -> u64 {
        let dressed = is_dressed(text);
        if !dressed && !self.stirs(text) {
            return 0;
        }
        let mut spans = Vec::new();
        let view = self.view(text, Spelling::Plain);
        self.scan(view.text(), depth, &mut spans);
        let hidden = view.hidden().filter(|_| self.wanted & Category::HiddenText.bit() != 0);
        self.room.views.push(view);
        named(&spans) | hidden.map_or(0, |_| Category::HiddenText.bit())
    }

    /// A key that was cut into lines, each a string of its own.
    fn goes_on(&mut self, token: Token, raw: &[u8]) -> bool {
        let view = self.view(raw, Spelling::Json);
        let text = view.text();
        let between = self.bytes.get(self.body_end..token.start.saturating_sub(1)).unwrap_or_default();
        let adjacent = self.body_end > 0 && between.iter().all(|b| b.is_ascii_whitespace() || *b == b',');
        let is_body = pem::is_body(text);
        let mut whole = false;
        if let Some(end) = pem::end_in(text) {
            let (_, end) = view.raw(0, end);
            self.hit(token, 0, end, Category::PrivateKey);
            self.block = Block::Closed;
        } else if is_body && (text.len() >= A_LINE || adjacent) {
            self.hit(token, 0, raw.len(), Category::PrivateKey);
            self.body_end = token.end + 1;
            whole = true;
        } else if !is_body && text.len() >= A_LINE && memchr(b':', text).is_none() {
            self.block = Block::Closed;
        }
        self.room.views.push(view);
        whole
    }

    fn is_aws_secret(&mut self, token: Token, raw: &[u8]) -> bool {
        let view = self.view(raw, Spelling::Json);
        let is_one = secrets::is_aws_secret(view.text());
        self.room.views.push(view);
        if is_one {
            self.hit(token, 0, raw.len(), Category::AwsSecretKey);
        }
        is_one
    }

    /// Numbers outside of strings can be those of cards.
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

/// The categories of some spans.
fn named(spans: &[Span]) -> u64 {
    spans.iter().fold(0, |bits, span| bits | span.category.bit())
}
