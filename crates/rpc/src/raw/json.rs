use super::Raw;
use crate::scan::{Defect, Limits, Scan, scan};
use bytestring::ByteString;
use serde::{Serialize, Serializer};

/// Owned JSON text of one value. Clones share the text. A part of a larger text keeps the whole text alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json(ByteString);

impl Json {
    /// Serializes a value.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(Self::trusted)
    }

    /// Checks foreign text.
    pub fn read(text: &str, limits: &Limits) -> Result<Self, Defect> {
        // The scan would treat a top-level array as a batch, so the value is scanned as an array element.
        let wrapped = ["[", text, "]"].concat();
        let one_back = |defect: Defect| defect.moved_back();
        match scan(wrapped.as_bytes(), limits).map_err(one_back)? {
            Scan::Batch(envelopes) => match envelopes.as_slice() {
                [only] => match only.soft_defect() {
                    Some(defect) => Err(defect.moved_back()),
                    None => Ok(only.raw().to_json()),
                },
                _ => Err(Defect::Syntax { offset: 0 }),
            },
            Scan::One(_) => Err(Defect::Syntax { offset: 0 }),
        }
    }

    pub fn empty_object() -> Self {
        Self::trusted("{}".to_owned())
    }

    pub fn string(value: &str) -> Self {
        Self::trusted(crate::write::json_string(value))
    }

    /// An object with these members. Their names must be unique.
    pub fn object<'a>(members: impl Iterator<Item = (&'a str, Raw<'a>)>) -> Self {
        let mut text = b"{".to_vec();
        for (position, (name, value)) in members.enumerate() {
            if position > 0 {
                text.push(b',');
            }
            crate::write::push_json_string(&mut text, name);
            text.push(b':');
            text.extend_from_slice(value.text().as_bytes());
        }
        text.push(b'}');
        // Only UTF-8 was written, so the conversion loses nothing.
        Self::trusted(String::from_utf8_lossy(&text).into_owned())
    }

    pub(crate) fn trusted(text: String) -> Self {
        Self(ByteString::from(text))
    }

    /// A value within `whole`, without a copy.
    pub(crate) fn part_of(whole: &ByteString, value: Raw<'_>) -> Self {
        let text = value.text();
        let (outer, inner) = (whole.as_bytes().as_ptr_range(), text.as_bytes().as_ptr_range());
        let is_inside = outer.start <= inner.start && inner.end <= outer.end;
        if is_inside { Self(whole.slice_ref(text)) } else { value.to_json() }
    }

    pub fn text(&self) -> &str {
        &self.0
    }

    pub fn raw(&self) -> Raw<'_> {
        Raw::trusted(&self.0)
    }

    pub(super) fn whole(&self) -> &ByteString {
        &self.0
    }
}

impl From<&serde_json::Value> for Json {
    fn from(value: &serde_json::Value) -> Self {
        Self::trusted(value.to_string())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw().serialize(serializer)
    }
}
