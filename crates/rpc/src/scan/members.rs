use super::Span;
use super::unescape::unescape;
use crate::raw::{Object, Raw};

/// Members remembered per message: enough for every request the protocol defines.
const REMEMBERED: usize = 8;

/// Offsets in 32 bits: half the room, and messages beyond four gigabytes are looked up the slow way.
#[derive(Clone, Copy, Debug, Default)]
struct Member {
    key: (u32, u32),
    value: (u32, u32),
}

/// Where the members one level inside `params`, `result` or `error` are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Members {
    members: [Member; REMEMBERED],
    count: usize,
    overflow: bool,
}

impl Members {
    pub(super) fn remember(&mut self, key: Span, value: Span) {
        let member = narrow(key).zip(narrow(value)).map(|(key, value)| Member { key, value });
        match self.members.get_mut(self.count).zip(member) {
            Some((slot, member)) => {
                *slot = member;
                self.count += 1;
            }
            None => self.overflow = true,
        }
    }

    /// Finds a member in `text` (the message) whose container is `whole`.
    pub(crate) fn get<'a>(&self, text: &'a str, whole: Raw<'a>, key: &str) -> Option<Raw<'a>> {
        let known = self.members.iter().take(self.count);
        let mut found = known.filter(|member| is_key(wide(member.key).of(text), key));
        match found.next() {
            Some(member) => Some(Raw::trusted(wide(member.value).of(text))),
            None if self.overflow => whole.as_object().and_then(|object: Object<'a>| object.get(key)),
            None => None,
        }
    }
}

fn is_key(inner: &str, key: &str) -> bool {
    inner == key || (inner.contains('\\') && unescape(inner).is_some_and(|decoded| decoded == key))
}

fn narrow(span: Span) -> Option<(u32, u32)> {
    Some((u32::try_from(span.start).ok()?, u32::try_from(span.end).ok()?))
}

fn wide(span: (u32, u32)) -> Span {
    Span { start: span.0 as usize, end: span.1 as usize }
}
