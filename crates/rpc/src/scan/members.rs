use super::{Slot, Span};
use crate::raw::change::{finish, push};
use crate::raw::object::is_key;
use crate::raw::{Json, Object, Raw};

/// Number of recorded members per message. It is enough for every request of the protocol.
const REMEMBERED: usize = 8;

/// Offsets have 32 bits to save space. Messages beyond 4 GiB use the slow lookup.
#[derive(Clone, Copy, Debug, Default)]
struct Member {
    key: (u32, u32),
    value: (u32, u32),
}

/// The positions of the members directly inside `params`, `result` or `error`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MemberPlaces {
    members: [Member; REMEMBERED],
    count: usize,
    of: Option<Slot>,
    incomplete: bool,
}

impl MemberPlaces {
    /// Records the members of one container only. Members of another one (such as `params` in a response)
    /// must not be confused with them.
    pub(super) fn remember(&mut self, of: Slot, key: Span, value: Span) {
        if *self.of.get_or_insert(of) != of {
            return;
        }
        let member = narrow(key).zip(narrow(value)).map(|(key, value)| Member { key, value });
        match self.members.get_mut(self.count).zip(member) {
            Some((slot, member)) => {
                *slot = member;
                self.count += 1;
            }
            None => self.incomplete = true,
        }
    }

    /// Finds a member of `whole`, which is the value of `of` in `text`.
    pub(crate) fn get<'a>(&self, text: &'a str, of: Slot, whole: Raw<'a>, key: &str) -> Option<Raw<'a>> {
        let walk = || whole.as_object().and_then(|object: Object<'a>| object.get(key));
        if self.of != Some(of) {
            return walk();
        }
        let mut known = self.members.iter().take(self.count);
        match known.find(|member| is_key(wide(member.key).of(text), key)) {
            Some(member) => Some(Raw::trusted(wide(member.value).of(text))),
            None if self.incomplete => walk(),
            None => None,
        }
    }

    /// The members of `whole` except these, unchanged. `None` if there are no others.
    pub(crate) fn others(&self, text: &str, of: Slot, whole: Raw<'_>, names: &[&str]) -> Option<Json> {
        if self.of != Some(of) || self.incomplete {
            return whole.as_object()?.without(names);
        }
        let mut others = String::new();
        for member in self.members.iter().take(self.count) {
            let key = wide(member.key).of(text);
            if !names.iter().any(|name| is_key(key, name)) {
                push(&mut others, key, Raw::trusted(wide(member.value).of(text)));
            }
        }
        finish(others)
    }
}

fn narrow(span: Span) -> Option<(u32, u32)> {
    Some((u32::try_from(span.start).ok()?, u32::try_from(span.end).ok()?))
}

fn wide(span: (u32, u32)) -> Span {
    Span { start: span.0 as usize, end: span.1 as usize }
}
