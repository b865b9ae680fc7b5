//! Request ids, kept as their exact text.

use crate::raw::Raw;
use std::fmt;
use std::sync::Arc;

/// The longest id that is accepted: it is stored and echoed, so it has a cap.
const LONGEST: usize = 1_000;

/// A string or integer id as its exact JSON text, so that `1`, `1.0` and integers no double can hold all go back
/// as they came. Two ids are equal when their texts are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Id(Arc<str>);

impl Id {
    /// Takes the scanned text of a JSON value; `None` when it is no id.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let fits = text.len() <= LONGEST && (is_integer(text) || Raw::trusted(text).as_str().is_some());
        if fits { Some(Self(text.into())) } else { None }
    }

    /// An id of our own.
    pub fn from_number(number: u64) -> Self {
        Self(number.to_string().into())
    }

    /// A string id of our own.
    pub fn from_string(value: &str) -> Self {
        Self(crate::write::json_string(value).into())
    }

    /// The JSON text, quotes included when it is a string.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The id as a value.
    pub fn raw(&self) -> Raw<'_> {
        Raw::trusted(&self.0)
    }

    /// The value when it is an unsigned integer, `1.0` included: a peer may write our `1` either way.
    pub fn as_u64(&self) -> Option<u64> {
        Raw::trusted(&self.0).as_u64()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Whether a scanned value is an integer, with at most a fraction of zeros: JSON Schema calls `1.0` an integer.
fn is_integer(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (digits, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    let only = |text: &str, is: fn(&u8) -> bool| !text.is_empty() && text.as_bytes().iter().all(is);
    only(digits, u8::is_ascii_digit) && only(fraction, |byte| *byte == b'0')
}
