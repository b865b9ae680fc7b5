//! The service's JSON format. Version 2 returns lists, version 1 single objects if there is one item. An
//! empty collection is `[]` or missing. Numbers and flags are texts. Parsing is lenient, because an unknown
//! field must not lose a task.

use serde_json::Value;

/// The items under a name: a list, a single item, or none.
pub(crate) fn items<'v>(value: &'v Value, name: &str) -> Vec<&'v Value> {
    value.get(name).map_or_else(Vec::new, flat)
}

/// The items of a collection that may repeat their name: `{"note": […]}`, `[{"note": …}]`, `[…]` or `…`.
pub(crate) fn nested<'v>(value: &'v Value, outer: &str, inner: &str) -> Vec<&'v Value> {
    let found = items(value, outer);
    let inside = found.into_iter().flat_map(|item| match item.get(inner) {
        Some(inner) => flat(inner),
        None => vec![item],
    });
    inside.collect()
}

fn flat(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(all) => all.iter().collect(),
        Value::Null => Vec::new(),
        Value::String(text) if text.is_empty() => Vec::new(),
        one => vec![one],
    }
}

/// A single value, taken out of its list if there is one.
pub(crate) fn first(value: Value) -> Value {
    match value {
        Value::Array(all) => all.into_iter().next().unwrap_or_default(),
        alone => alone,
    }
}

/// The text under a name, or an empty text. The service writes numbers and flags as text.
pub(crate) fn text(value: &Value, name: &str) -> String {
    value.get(name).map_or_else(String::new, words)
}

/// A value as text. `{"$t": "…"}` is its text.
pub(crate) fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(flag) => if *flag { "1" } else { "0" }.to_owned(),
        Value::Object(object) => object.get("$t").map_or_else(String::new, words),
        Value::Array(_) | Value::Null => String::new(),
    }
}

/// The text under a name, if it is not empty.
pub(crate) fn some(value: &Value, name: &str) -> Option<String> {
    Some(text(value, name)).filter(|text| !text.is_empty())
}

/// A flag under a name: `1`, `true`.
pub(crate) fn flag(value: &Value, name: &str) -> bool {
    matches!(text(value, name).as_str(), "1" | "true")
}

pub(crate) fn number(value: &Value, name: &str) -> u64 {
    text(value, name).parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{flag, items, nested, number, some, text};
    use serde_json::{Value, json};

    fn check(value: &Value, expected: &[&str]) {
        let found: Vec<String> = nested(value, "tags", "tag").into_iter().map(super::words).collect();
        assert_eq!(found, expected, "{value}");
    }

    #[test]
    fn collections_come_in_many_shapes() {
        check(&json!({"tags": []}), &[]);
        check(&json!({}), &[]);
        check(&json!({"tags": null}), &[]);
        check(&json!({"tags": ""}), &[]);
        check(&json!({"tags": {"tag": "one"}}), &["one"]);
        check(&json!({"tags": {"tag": ["one", "two"]}}), &["one", "two"]);
        check(&json!({"tags": [{"tag": ["one"]}, {"tag": "two"}]}), &["one", "two"]);
        check(&json!({"tags": ["one", "two"]}), &["one", "two"]);
        check(&json!({"tags": {"tag": [{"$t": "one"}]}}), &["one"]);
        assert_eq!(items(&json!({"list": {"id": "1"}}), "list").len(), 1);
    }

    #[test]
    fn values_are_text() {
        let value = json!({"a": "1", "b": 1, "c": true, "d": "", "e": {"$t": "x"}, "f": "0"});
        assert!(flag(&value, "a") && flag(&value, "b") && flag(&value, "c"));
        assert!(!flag(&value, "d") && !flag(&value, "f") && !flag(&value, "z"));
        assert_eq!((number(&value, "b"), text(&value, "e"), some(&value, "d")), (1, "x".to_owned(), None));
    }
}
