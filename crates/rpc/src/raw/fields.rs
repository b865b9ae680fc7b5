use super::{Json, Object, Raw};
use bytestring::ByteString;

/// The owned members of an object, without its braces. A part of a larger object therefore needs no copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields(ByteString);

impl Fields {
    pub(super) fn trusted(text: ByteString) -> Self {
        Self(text)
    }

    /// The text of the members, with commas between them.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The members as an object.
    pub fn object(&self) -> Object<'_> {
        Object::of_members(&self.0)
    }

    /// Finds a member by its decoded key.
    pub fn get(&self, key: &str) -> Option<Raw<'_>> {
        self.object().get(key)
    }

    /// An owned object with these members.
    pub fn to_json(&self) -> Json {
        Json::trusted(["{", self.text(), "}"].concat())
    }
}

/// The members of an object. Other types have none.
impl From<Json> for Fields {
    fn from(json: Json) -> Self {
        Self(json.whole().slice_ref(json.raw().members()))
    }
}

#[cfg(test)]
mod tests {
    use super::Fields;
    use crate::raw::Json;
    use crate::scan::Limits;

    fn json(text: &str) -> Json {
        Json::read(text, &Limits::default()).expect("JSON")
    }

    #[test]
    fn members_are_found_without_braces_and_get_them_back() {
        for text in [r#"{"a":1,"b":{"c":[2]}}"#, r#"{ "a" : 1 , "b" : {"c":[2]} }"#] {
            let whole = json(text);
            let fields = Fields::from(whole.clone());
            assert!(whole.text().as_bytes().as_ptr_range().contains(&fields.text().as_ptr()), "no copy");
            assert_eq!(fields.get("b").map(|b| b.text().to_owned()), Some(r#"{"c":[2]}"#.to_owned()));
            assert_eq!(fields.get("c"), None);
            assert_eq!(fields.object().iter().count(), 2);
            assert_eq!(fields.to_json().raw().as_object().expect("an object").iter().count(), 2);
        }
    }

    #[test]
    fn what_has_no_members_has_none() {
        for text in ["{}", "{ }", "[1]", "null", r#""{\"a\":1}""#] {
            assert_eq!(Fields::from(json(text)), Fields::default(), "{text}");
        }
        assert_eq!(Fields::default().to_json(), Json::empty_object());
    }
}
