//! JSON Pointers of findings. Callers see them, so member names that an upstream chose are shown as `_`.

use std::fmt::Write;

use super::examine::Hit;
use super::tokens::{Token, Tokens, is_key};
use failwell_rpc::Direction;

/// Member names of the protocol. Pointers may show these for any message.
const KNOWN: &[&str] = &[
    "_meta",
    "annotations",
    "arguments",
    "blob",
    "code",
    "completion",
    "content",
    "contents",
    "contextInclusion",
    "data",
    "description",
    "detail",
    "error",
    "facts",
    "hint",
    "icons",
    "id",
    "inputRequests",
    "inputResponses",
    "inputSchema",
    "instructions",
    "isError",
    "jsonrpc",
    "level",
    "logger",
    "message",
    "messages",
    "meta",
    "method",
    "mimeType",
    "name",
    "nextCursor",
    "outputSchema",
    "params",
    "progress",
    "progressToken",
    "prompts",
    "properties",
    "reason",
    "requestState",
    "requestedSchema",
    "resource",
    "resourceTemplates",
    "resources",
    "result",
    "role",
    "statusMessage",
    "structuredContent",
    "systemPrompt",
    "text",
    "title",
    "tools",
    "total",
    "type",
    "uri",
    "uriTemplate",
    "value",
    "values",
    "violations",
];

enum PointerLevel {
    Object(Option<Token>),
    Array(usize),
}

/// The pointer of every hit. Hits must be in message order.
pub(super) fn places(json: &[u8], hits: &[Hit], direction: Direction) -> Vec<String> {
    let mut walk =
        HitPointers { json, hits, direction, stack: Vec::new(), found: Vec::with_capacity(hits.len()) };
    let mut tokens = Tokens::from(json, 0);
    loop {
        let gap = tokens.position();
        let Some(token) = tokens.next() else {
            walk.between(gap, json.len());
            break;
        };
        walk.between(gap, token.start.saturating_sub(1));
        walk.string(token);
        if walk.found.len() == hits.len() {
            break;
        }
    }
    walk.found.resize(hits.len(), String::new());
    walk.found
}

struct HitPointers<'a> {
    json: &'a [u8],
    hits: &'a [Hit],
    direction: Direction,
    stack: Vec<PointerLevel>,
    found: Vec<String>,
}

impl HitPointers<'_> {
    fn between(&mut self, from: usize, to: usize) {
        for at in from..to {
            match self.json.get(at) {
                Some(b'{') => self.stack.push(PointerLevel::Object(None)),
                Some(b'[') => self.stack.push(PointerLevel::Array(0)),
                Some(b'}' | b']') => drop(self.stack.pop()),
                Some(b',') => {
                    if let Some(PointerLevel::Array(index)) = self.stack.last_mut() {
                        *index += 1;
                    }
                }
                Some(b'0'..=b'9') => self.note(at),
                _ => {}
            }
        }
    }

    fn string(&mut self, token: Token) {
        if let (Some(PointerLevel::Object(name)), true) =
            (self.stack.last_mut(), is_key(self.json, token.end + 1))
        {
            *name = Some(token);
        }
        self.note(token.start);
    }

    /// Records the pointer of every hit in the token that begins at `start`.
    fn note(&mut self, start: usize) {
        while self.hits.get(self.found.len()).is_some_and(|hit| hit.token.start == start) {
            let place = self.pointer();
            self.found.push(place);
        }
    }

    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for level in &self.stack {
            let _ = match level {
                PointerLevel::Array(index) => write!(pointer, "/{index}"),
                PointerLevel::Object(Some(name)) => write!(pointer, "/{}", self.shown(*name)),
                PointerLevel::Object(None) => write!(pointer, "/"),
            };
        }
        pointer
    }

    fn shown(&self, name: Token) -> &str {
        let text = self.json.get(name.start..name.end).and_then(|raw| std::str::from_utf8(raw).ok());
        let is_plain = |text: &str| {
            (1..=32).contains(&text.len())
                && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
        };
        let is_clean = || self.hits.binary_search_by_key(&name.start, |hit| hit.token.start).is_err();
        match text {
            Some(text) if KNOWN.contains(&text) => text,
            Some(text) if self.direction == Direction::Request && is_plain(text) && is_clean() => text,
            _ => "_",
        }
    }
}
