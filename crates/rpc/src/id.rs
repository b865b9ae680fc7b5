//! Request ids, stored as their exact text.

use crate::raw::Raw;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Maximum length of an id. It is stored and echoed, so it needs a bound.
const LONGEST: usize = 1_000;

/// A string or integer id as its exact JSON text. So `1`, `1.0` and integers beyond a double are echoed
/// unchanged. Two ids are equal if their texts are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Id(Arc<str>);

impl Id {
    /// Reads the scanned text of a JSON value. `None` if it is not a valid id.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let fits = text.len() <= LONGEST && (is_integer(text) || Raw::trusted(text).as_str().is_some());
        if fits { Some(Self(text.into())) } else { None }
    }

    /// Creates a numeric id.
    pub fn from_number(number: u64) -> Self {
        Self(number.to_string().into())
    }

    /// Creates a string id.
    pub fn from_string(value: &str) -> Self {
        Self(crate::write::json_string(value).into())
    }

    /// The JSON text, including the quotes of a string.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The id as people write it: a string without its quotes and escapes.
    pub fn plain(&self) -> Cow<'_, str> {
        self.raw().as_str().unwrap_or(Cow::Borrowed(&self.0))
    }

    pub fn raw(&self) -> Raw<'_> {
        Raw::trusted(&self.0)
    }

    /// The value of an unsigned integer, including `1.0`: a peer may return our `1` in either form.
    pub fn as_u64(&self) -> Option<u64> {
        Raw::trusted(&self.0).as_u64()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Whether a scanned value is an integer, optionally with a zero fraction: JSON Schema treats `1.0` as an
/// integer.
fn is_integer(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (digits, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    let only = |text: &str, is: fn(&u8) -> bool| !text.is_empty() && text.as_bytes().iter().all(is);
    only(digits, u8::is_ascii_digit) && only(fraction, |byte| *byte == b'0')
}
