//! Objects with some members changed: everything else stays as it was written, keys included.

use super::{Json, Object, Raw};

impl<'a> Object<'a> {
    /// The object without the members of these names; `None` when nothing is left.
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

    /// The object with another value under one of its names; unchanged when there is no such name.
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
    /// Takes members out of an object, in one pass: what is left, and what was taken.
    pub fn part<const N: usize>(self, names: [&str; N]) -> (Json, [Option<Json>; N]) {
        let mut taken = [const { None }; N];
        let mut kept = Vec::with_capacity(4);
        for (key, value) in self.raw().as_object().into_iter().flat_map(Object::written) {
            let place = names.iter().position(|name| key.is(name));
            match place.and_then(|place| taken.get_mut(place)) {
                Some(place) => *place = Some(Json::part_of(self.whole(), value)),
                None => kept.push((key, value)),
            }
        }
        if taken.iter().all(Option::is_none) {
            return (self, taken);
        }
        let mut text = String::with_capacity(self.text().len());
        kept.into_iter().for_each(|(key, value)| push(&mut text, key.written, value));
        (finish(text).unwrap_or_else(Json::empty_object), taken)
    }
}

/// Appends a member; the first one opens the object.
pub(crate) fn push(text: &mut String, key: &str, value: Raw<'_>) {
    text.push(if text.is_empty() { '{' } else { ',' });
    text.push('"');
    text.push_str(key);
    text.push_str("\":");
    text.push_str(value.text());
}

/// Closes an object that has members.
pub(crate) fn finish(mut text: String) -> Option<Json> {
    if text.is_empty() {
        return None;
    }
    text.push('}');
    Some(Json::trusted(text))
}
