//! Values borrowed from scanned text. They rely on the scan and only search for the end of values. On text
//! that was not scanned they may find no value, but they never panic.

mod array;
mod canonical;
pub(crate) mod change;
mod fields;
mod json;
pub(crate) mod object;
mod skip;
mod tree;

pub use array::Array;
pub use fields::Fields;
pub use json::Json;
pub use object::{Members, Object};

use crate::scan::unescape::unescape;
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

/// The text of one JSON value, without surrounding whitespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    pub(crate) fn trusted(text: &'a str) -> Self {
        Self(text)
    }

    /// Wraps text that this program wrote. If it is not JSON, lookups find no value.
    pub fn written(text: &'a str) -> Self {
        Self(text)
    }

    /// The text, byte for byte as received.
    pub fn text(self) -> &'a str {
        self.0
    }

    /// The text between the braces of an object. Empty for other types.
    pub fn members(self) -> &'a str {
        self.0.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default().trim()
    }

    pub fn kind(self) -> Kind {
        match self.0.as_bytes().first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'-' | b'0'..=b'9') => Kind::Number,
            _ => Kind::Null,
        }
    }

    pub fn as_object(self) -> Option<Object<'a>> {
        if self.kind() == Kind::Object { Some(Object::new(self.0)) } else { None }
    }

    /// The elements of an array.
    pub fn as_array(self) -> Option<Array<'a>> {
        if self.kind() == Kind::Array { Some(Array::new(self.0)) } else { None }
    }

    /// The decoded string. It is borrowed if there are no escapes.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        unescape(self.0.strip_prefix('"')?.strip_suffix('"')?)
    }

    pub fn as_bool(self) -> Option<bool> {
        match self.0 {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The value as a signed integer. A zero fraction is ignored.
    pub fn as_i64(self) -> Option<i64> {
        whole(self.number()?)?.parse().ok()
    }

    /// The value as an unsigned integer. A zero fraction is ignored.
    pub fn as_u64(self) -> Option<u64> {
        whole(self.number()?)?.parse().ok()
    }

    /// The value as a double.
    pub fn as_f64(self) -> Option<f64> {
        self.number()?.parse().ok()
    }

    /// The value as an id, if it is a valid one.
    pub fn as_id(self) -> Option<crate::Id> {
        crate::Id::read(self.0)
    }

    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// Deserializes the value.
    pub fn parse<T: Deserialize<'a>>(self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.0)
    }

    pub fn to_json(self) -> Json {
        Json::trusted(self.0.to_owned())
    }

    fn number(self) -> Option<&'a str> {
        if self.kind() == Kind::Number { Some(self.0) } else { None }
    }
}

/// The integer part of a number with a zero fraction. `None` for other fractions.
fn whole(text: &str) -> Option<&str> {
    match text.split_once('.') {
        None => Some(text),
        Some((digits, fraction)) if fraction.bytes().all(|byte| byte == b'0') => Some(digits),
        Some(_) => None,
    }
}

impl Serialize for Raw<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &serde_json::value::RawValue = self.parse().map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}
