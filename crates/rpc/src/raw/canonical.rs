//! A canonical text for equal values.

use std::borrow::Cow;

use super::{Kind, Raw};
use crate::write::push_json_string;

/// The scan accepts no deeper nesting.
const DEEPEST: usize = 512;

/// A mapping of strings.
type TextMap<'p> = &'p dyn for<'t> Fn(Cow<'t, str>) -> Cow<'t, str>;

impl Raw<'_> {
    /// The value without whitespace, with sorted names and uniform escapes. Numbers keep their text: two
    /// numbers that are equal as doubles stay different.
    pub fn canonical(self) -> String {
        self.canonical_with(&|text| text)
    }

    /// The same, with a mapping applied to every string, including names.
    pub fn canonical_with(self, put: TextMap<'_>) -> String {
        let mut out = Vec::with_capacity(self.text().len());
        write(self, DEEPEST, put, &mut out);
        // Only UTF-8 was written, so the conversion loses nothing.
        String::from_utf8_lossy(&out).into_owned()
    }
}

fn write(value: Raw<'_>, depth: usize, put: TextMap<'_>, out: &mut Vec<u8>) {
    match (value.kind(), depth.checked_sub(1)) {
        (Kind::Object, Some(depth)) => {
            let Some(object) = value.as_object() else { return };
            let mut members: Vec<_> = object.iter().collect();
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            out.push(b'{');
            for (position, (name, value)) in members.into_iter().enumerate() {
                separate(position, out);
                push_json_string(out, &put(name));
                out.push(b':');
                write(value, depth, put, out);
            }
            out.push(b'}');
        }
        (Kind::Array, Some(depth)) => {
            out.push(b'[');
            for (position, item) in value.as_array().into_iter().flatten().enumerate() {
                separate(position, out);
                write(item, depth, put, out);
            }
            out.push(b']');
        }
        (Kind::String, _) => match value.as_str() {
            Some(text) => push_json_string(out, &put(text)),
            None => out.extend_from_slice(value.text().as_bytes()),
        },
        _ => out.extend_from_slice(value.text().as_bytes()),
    }
}

fn separate(position: usize, out: &mut Vec<u8>) {
    if position > 0 {
        out.push(b',');
    }
}

#[cfg(test)]
mod tests {
    use crate::{Json, Limits};

    fn canonical(text: &str) -> String {
        Json::read(text, &Limits::default()).expect("JSON").raw().canonical()
    }

    #[test]
    fn ways_of_writing_are_one_and_values_are_not() {
        let same = [
            r#"{"a":1,"b":[true,null,{"x":"é","y":"\n"}]}"#,
            "{ \"b\" : [ true , null , { \"y\" : \"\\u000a\" , \"x\" : \"\\u00e9\" } ] ,\n \"\\u0061\" : 1 }",
        ];
        assert_eq!(canonical(same[0]), canonical(same[1]));
        assert_eq!(canonical(same[0]), same[0]);
        let apart = [
            "18446744073709551617",
            "18446744073709551616",
            "1",
            "1.0",
            r#""1""#,
            "[1]",
            "[[1]]",
            "{}",
            "[]",
            r#"{"a":[]}"#,
            r#"{"a":{}}"#,
            r#""a\u0000""#,
            r#""a""#,
            "[1,2]",
            "[2,1]",
            "null",
            r#""null""#,
        ];
        for (place, one) in apart.iter().enumerate() {
            for other in apart.iter().skip(place + 1) {
                assert_ne!(canonical(one), canonical(other));
            }
        }
    }
}
