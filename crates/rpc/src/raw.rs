//! Values borrowed from scanned text. They trust the scan: navigation only finds ends, and on text that was not
//! scanned it may find nothing, but it never panics.

mod array;
mod canonical;
pub(crate) mod change;
mod fields;
mod json;
pub(crate) mod object;
mod skip;

pub use array::Array;
pub use fields::Fields;
pub use json::Json;
pub use object::{Members, Object};

use crate::scan::unescape::unescape;
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// Any number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// The text of one JSON value, without surrounding whitespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    pub(crate) fn trusted(text: &'a str) -> Self {
        Self(text)
    }

    /// Text of our own making. What is no JSON may be found to hold nothing; nothing worse happens.
    pub fn written(text: &'a str) -> Self {
        Self(text)
    }

    /// The text, byte for byte as it was received.
    pub fn text(self) -> &'a str {
        self.0
    }

    /// What stands between the braces of an object; nothing where it is none.
    pub fn members(self) -> &'a str {
        self.0.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default().trim()
    }

    /// What the value is.
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

    /// The value as an object.
    pub fn as_object(self) -> Option<Object<'a>> {
        if self.kind() == Kind::Object { Some(Object::new(self.0)) } else { None }
    }

    /// The elements, when the value is an array.
    pub fn as_array(self) -> Option<Array<'a>> {
        if self.kind() == Kind::Array { Some(Array::new(self.0)) } else { None }
    }

    /// The decoded string; borrowed when it has no escapes.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        unescape(self.0.strip_prefix('"')?.strip_suffix('"')?)
    }

    /// The value as a boolean.
    pub fn as_bool(self) -> Option<bool> {
        match self.0 {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The value as a signed integer; a zero fraction is no fraction.
    pub fn as_i64(self) -> Option<i64> {
        whole(self.number()?)?.parse().ok()
    }

    /// The value as an unsigned integer; a zero fraction is no fraction.
    pub fn as_u64(self) -> Option<u64> {
        whole(self.number()?)?.parse().ok()
    }

    /// The value as a double.
    pub fn as_f64(self) -> Option<f64> {
        self.number()?.parse().ok()
    }

    /// The id, when the value can be one.
    pub fn as_id(self) -> Option<crate::Id> {
        crate::Id::read(self.0)
    }

    /// Whether the value is `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// Reads the value into a type.
    pub fn parse<T: Deserialize<'a>>(self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.0)
    }

    /// An owned copy.
    pub fn to_json(self) -> Json {
        Json::trusted(self.0.to_owned())
    }

    fn number(self) -> Option<&'a str> {
        if self.kind() == Kind::Number { Some(self.0) } else { None }
    }
}

/// The digits before a fraction of zeros; nothing when there is more to the number.
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
