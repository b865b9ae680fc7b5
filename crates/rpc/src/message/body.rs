use crate::id::Id;
use crate::raw::{Json, Raw};
use crate::scan::{Envelope, MemberPlaces, Slot, Span};
use bytestring::ByteString;
use std::borrow::Cow;

/// The text of a message and the positions of its parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body<'a> {
    all: &'a str,
    letter: Option<&'a ByteString>,
    whole: Span,
    id: Span,
    members: MemberPlaces,
}

impl<'a> Body<'a> {
    pub(super) fn new(envelope: &Envelope<'a>, letter: Option<&'a ByteString>) -> Self {
        let id = envelope.span(Slot::Id).unwrap_or_default();
        Self { all: envelope.all(), letter, whole: envelope.whole(), id, members: envelope.members() }
    }

    fn keep(&self, value: Raw<'a>) -> Json {
        self.letter.map_or_else(|| value.to_json(), |letter| Json::part_of(letter, value))
    }

    fn text(&self) -> &'a str {
        self.whole.of(self.all)
    }

    fn splice_id<'b>(&'b self, new_id: &'b str) -> [&'b [u8]; 3] {
        let before = Span { start: self.whole.start, end: self.id.start };
        let after = Span { start: self.id.end, end: self.whole.end };
        [before.of(self.all).as_bytes(), new_id.as_bytes(), after.of(self.all).as_bytes()]
    }

    fn member(&self, of: Slot, whole: Raw<'a>, name: &str) -> Option<Raw<'a>> {
        self.members.get(self.all, of, whole, name)
    }
}

/// A message that expects a response.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The id for the response.
    pub id: Id,
    pub method: Cow<'a, str>,
    /// The parameters: an object or an array.
    pub params: Option<Raw<'a>>,
    pub(super) body: Body<'a>,
}

/// A message that expects no response.
#[derive(Clone, Debug)]
pub struct Notification<'a> {
    pub method: Cow<'a, str>,
    /// The parameters: an object or an array.
    pub params: Option<Raw<'a>>,
    pub(super) body: Body<'a>,
}

/// A response to one of our requests.
#[derive(Clone, Debug)]
pub struct Response<'a> {
    /// The id of the request.
    pub id: Id,
    /// The `result`, or the `error` object.
    pub body: Result<Raw<'a>, Raw<'a>>,
    pub(super) message: Body<'a>,
}

macro_rules! parameters {
    ($($message:ident),*) => {$(
        impl<'a> $message<'a> {
            /// A member of `params`.
            pub fn param(&self, name: &str) -> Option<Raw<'a>> {
                self.body.member(Slot::Params, self.params?, name)
            }

            /// The members of `params` except these, unchanged. `None` if there are no others.
            pub fn other_params(&self, names: &[&str]) -> Option<Json> {
                self.body.members.others(self.body.all, Slot::Params, self.params?, names)
            }

            /// A member of `params._meta`.
            pub fn meta(&self, key: &str) -> Option<Raw<'a>> {
                self.param("_meta")?.as_object()?.get(key)
            }

            /// The whole message as received, including unknown members.
            pub fn text(&self) -> &'a str {
                self.body.text()
            }
        }
    )*};
}

parameters!(Request, Notification);

impl Request<'_> {
    /// The message with another id, as three borrowed slices for a vectored write.
    pub fn splice_id<'b>(&'b self, new_id: &'b str) -> [&'b [u8]; 3] {
        self.body.splice_id(new_id)
    }
}

impl<'a> Request<'a> {
    /// An owned value of the message. It shares the receive buffer if there is one, without a copy.
    pub fn keep(&self, value: Raw<'a>) -> Json {
        self.body.keep(value)
    }
}

impl<'a> Response<'a> {
    /// A member of `result` or of `error`.
    pub fn member(&self, name: &str) -> Option<Raw<'a>> {
        match self.body {
            Ok(result) => self.message.member(Slot::Result, result, name),
            Err(error) => self.message.member(Slot::Error, error, name),
        }
    }

    /// The whole message as received, including unknown members.
    pub fn text(&self) -> &'a str {
        self.message.text()
    }

    /// An owned value of the message. It shares the receive buffer if there is one, without a copy.
    pub fn keep(&self, value: Raw<'a>) -> Json {
        self.message.keep(value)
    }

    /// The message with another id, as three borrowed slices for a vectored write.
    pub fn splice_id<'b>(&'b self, new_id: &'b str) -> [&'b [u8]; 3] {
        self.message.splice_id(new_id)
    }
}
