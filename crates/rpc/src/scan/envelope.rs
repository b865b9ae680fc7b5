use super::unescape::unescape;
use super::{Defect, MemberPlaces, Span};
use crate::id::Id;
use crate::raw::Raw;

/// The top-level members of JSON-RPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    Version,
    Id,
    Method,
    Params,
    Result,
    Error,
}

impl Slot {
    pub(super) fn named(inner: &str) -> Option<Self> {
        Some(match inner {
            "jsonrpc" => Self::Version,
            "id" => Self::Id,
            "method" => Self::Method,
            "params" => Self::Params,
            "result" => Self::Result,
            "error" => Self::Error,
            _ if inner.contains('\\') => return Self::named(plain(&unescape(inner)?)?),
            _ => return None,
        })
    }

    pub(super) fn has_members(self) -> bool {
        matches!(self, Self::Params | Self::Result | Self::Error)
    }
}

/// A decoded key may contain a backslash. It is then not a known name and must not be decoded again.
fn plain(decoded: &str) -> Option<&str> {
    if decoded.contains('\\') { None } else { Some(decoded) }
}

/// The positions of the parts of one scanned message, and its first defect, if any. It borrows nothing, so
/// it can be stored beside the text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Places {
    pub(super) whole: Span,
    pub(super) slots: [Option<Span>; 6],
    pub(super) members: MemberPlaces,
    pub(super) id_repeated: bool,
    pub(super) soft: Option<Defect>,
}

impl Places {
    /// The message at these positions of the text that was scanned.
    pub(crate) fn within(self, all: &str) -> Envelope<'_> {
        Envelope { all, places: self }
    }

    pub(super) fn record(&mut self, slot: Slot, span: Span) {
        if let Some(place) = self.slots.get_mut(slot as usize) {
            self.id_repeated |= slot == Slot::Id && place.is_some();
            *place = Some(span);
        }
    }
}

/// One scanned message: its text, and the positions of its parts.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    all: &'a str,
    places: Places,
}

impl<'a> Envelope<'a> {
    /// The whole message, without surrounding whitespace.
    pub fn raw(&self) -> Raw<'a> {
        Raw::trusted(self.places.whole.of(self.all))
    }

    /// The reason why the message is refused although it is JSON.
    pub fn soft_defect(&self) -> Option<Defect> {
        self.places.soft
    }

    pub fn get(&self, slot: Slot) -> Option<Raw<'a>> {
        self.span(slot).map(|span| Raw::trusted(span.of(self.all)))
    }

    /// The id, if there is exactly one and it is a string or an integer.
    pub fn id(&self) -> Option<Id> {
        if self.places.id_repeated { None } else { self.get(Slot::Id).and_then(|raw| Id::read(raw.text())) }
    }

    pub(crate) fn all(&self) -> &'a str {
        self.all
    }

    pub(crate) fn whole(&self) -> Span {
        self.places.whole
    }

    pub(crate) fn members(&self) -> MemberPlaces {
        self.places.members
    }

    pub(crate) fn span(&self, slot: Slot) -> Option<Span> {
        self.places.slots.get(slot as usize).copied().flatten()
    }
}
