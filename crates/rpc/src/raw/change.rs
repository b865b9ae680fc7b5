//! Changes members of objects. All other text stays unchanged, including keys.

use super::{Fields, Json, Object, Raw};
use bytestring::ByteString;

impl<'a> Object<'a> {
    /// The object without these members. `None` if no member is left.
    pub fn without(self, names: &[&str]) -> Option<Json> {
        let mut text = String::new();
        let mut members = self.iter();
        while let Some((key, value)) = members.step() {
            if !names.iter().any(|name| key.is(name)) {
                push(&mut text, key.written, value);
            }
        }
        finish(text)
    }

    /// The object with another value for one member. Unchanged if the member is missing.
    pub fn replacing(self, name: &str, with: Raw<'_>) -> Json {
        let mut text = String::new();
        let mut members = self.iter();
        while let Some((key, value)) = members.step() {
            push(&mut text, key.written, if key.is(name) { with } else { value });
        }
        finish(text).unwrap_or_else(Json::empty_object)
    }
}

impl Json {
    /// Splits members off an object in one pass. Returns the remaining and the removed members. Objects can
    /// be large, so adjacent remaining members are not copied.
    pub fn part<const N: usize>(&self, names: [&str; N]) -> (Fields, [Option<Json>; N]) {
        let mut taken = [const { None }; N];
        let mut left = RemainingObject::default();
        for (key, value) in self.raw().as_object().into_iter().flat_map(Object::written) {
            let place = names.iter().position(|name| key.is(name));
            match place.and_then(|place| taken.get_mut(place)) {
                Some(place) => {
                    *place = Some(Json::part_of(self.whole(), value));
                    left.skip();
                }
                None => left.add(key.member),
            }
        }
        (left.of(self.whole()), taken)
    }
}

/// The remaining members. They are one slice of the text as long as no member between them was removed.
#[derive(Default)]
struct RemainingObject {
    first: Option<(usize, usize)>,
    more: Vec<(usize, usize)>,
    /// Whether a member was removed after the last one that was added.
    is_broken: bool,
}

impl RemainingObject {
    /// Adds the next member.
    fn add(&mut self, (start, end): (usize, usize)) {
        let broken = std::mem::take(&mut self.is_broken);
        let open = self.more.last_mut().or(self.first.as_mut());
        if let Some((_, last)) = open.filter(|_| !broken) {
            *last = end;
        } else if self.first.is_none() {
            self.first = Some((start, end));
        } else {
            self.more.push((start, end));
        }
    }

    /// Skips the next member.
    fn skip(&mut self) {
        self.is_broken = true;
    }

    fn of(self, whole: &ByteString) -> Fields {
        let stretch = |(start, end): (usize, usize)| whole.get(start..end).unwrap_or_default();
        match self.first.map(stretch) {
            None => Fields::default(),
            Some(only) if self.more.is_empty() => Fields::trusted(whole.slice_ref(only)),
            Some(first) => {
                let all: Vec<&str> =
                    std::iter::once(first).chain(self.more.into_iter().map(stretch)).collect();
                Fields::trusted(all.join(",").into())
            }
        }
    }
}

/// Appends a member. The first one opens the object.
pub(crate) fn push(text: &mut String, key: &str, value: Raw<'_>) {
    text.push(if text.is_empty() { '{' } else { ',' });
    text.push('"');
    text.push_str(key);
    text.push_str("\":");
    text.push_str(value.text());
}

/// Closes an object with members.
pub(crate) fn finish(mut text: String) -> Option<Json> {
    if text.is_empty() {
        return None;
    }
    text.push('}');
    Some(Json::trusted(text))
}

#[cfg(test)]
mod tests {
    use crate::raw::Json;
    use crate::scan::Limits;

    fn part(text: &str) -> (String, [Option<String>; 2]) {
        let whole = Json::read(text, &Limits::default()).expect("JSON");
        let (left, taken) = whole.part(["x", "y"]);
        (left.text().to_owned(), taken.map(|taken| taken.map(|json| json.text().to_owned())))
    }

    #[test]
    fn what_is_taken_is_gone_wherever_it_stood() {
        let (x, y) = (Some("1".to_owned()), Some("[2]".to_owned()));
        for (text, left, taken) in [
            (r#"{"a":0,"b":{"x":9}}"#, r#""a":0,"b":{"x":9}"#, [None, None]),
            (r#"{"x":1,"a":0,"b":3}"#, r#""a":0,"b":3"#, [x.clone(), None]),
            (r#"{"a":0,"b":3,"y":[2]}"#, r#""a":0,"b":3"#, [None, y.clone()]),
            (r#"{"a":0,"x":1,"b":3,"y":[2],"c":4}"#, r#""a":0,"b":3,"c":4"#, [x.clone(), y.clone()]),
            (
                r#"{ "x" : 1 , "a" : 0 , "b" : 3 , "y" : [2] }"#,
                r#""a" : 0 , "b" : 3"#,
                [x.clone(), y.clone()],
            ),
            (r#"{"\u0078":1,"a":0}"#, r#""a":0"#, [x.clone(), None]),
            (r#"{"y":[2],"x":1}"#, "", [x, y]),
            ("{}", "", [None, None]),
        ] {
            assert_eq!(part(text), (left.to_owned(), taken), "{text}");
        }
    }

    #[test]
    fn what_stands_together_is_no_copy() {
        let whole = Json::read(r#"{"x":1,"a":0,"b":3,"y":2}"#, &Limits::default()).expect("JSON");
        let (left, _) = whole.part(["x", "y"]);
        assert!(whole.text().as_bytes().as_ptr_range().contains(&left.text().as_ptr()));
    }
}
