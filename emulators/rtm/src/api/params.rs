//! The parameters of one request, from its query and its form.

use std::collections::BTreeMap;

/// Named values. A name given twice has its last value.
#[derive(Debug, Default, Clone)]
pub(crate) struct Params(BTreeMap<String, String>);

impl Params {
    pub(crate) fn read(query: Option<&str>, form: &[u8]) -> Params {
        let query = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        let pairs = query.chain(form_urlencoded::parse(form));
        Params(pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The value, unless it is missing or empty.
    pub(crate) fn given(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    pub(crate) fn is_set(&self, name: &str) -> bool {
        matches!(self.get(name), Some("1" | "true"))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::Params;

    #[test]
    fn query_and_form_are_one() {
        let params = Params::read(Some("a=1&b=two%20words"), b"b=3+4&c=%C3%A9");
        assert_eq!(params.get("a"), Some("1"));
        assert_eq!(params.get("b"), Some("3 4"));
        assert_eq!(params.get("c"), Some("é"));
        assert_eq!(params.given("d"), None);
    }
}
