//! Values as trees, for decisions about them.
//!
//! `serde_json::Value` takes an object with a key that is reserved for types of its own for another value. A
//! decision about it would be about arguments that no upstream receives.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::Raw;

impl Raw<'_> {
    /// The tree of the value, in which every key is a key.
    pub fn to_tree(self) -> Result<Value, serde_json::Error> {
        self.parse::<Tree>().map(|tree| tree.0)
    }
}

/// A value whose parser gives no key a meaning.
struct Tree(Value);

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Tree, D::Error> {
        deserializer.deserialize_any(TreeVisitor).map(Tree)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Tree(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((name, Tree(value))) = members.next_entry::<String, Tree>()? {
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Raw;
    use crate::{Json, Limits};

    #[test]
    fn trees_agree_with_the_usual_parser() {
        for text in [
            "null",
            "true",
            "-0",
            "-0.0",
            "12345678901234567890",
            "123456789012345678901234567890",
            "1e3",
            r#""a\u00e9\ud83d\ude00""#,
            "[]",
            r#"[1,"a",{"b":[null]}]"#,
            r#"{"a":{"b":{}},"c":[{}]}"#,
        ] {
            let expected: Value = serde_json::from_str(text).expect("JSON");
            assert_eq!(Raw::written(text).to_tree().expect(text), expected, "{text}");
        }
        for text in ["", "[", "{}x", "[1,]", "nope", r#"{"a":1"#] {
            assert!(Raw::written(text).to_tree().is_err(), "{text}");
        }
    }

    #[test]
    fn every_depth_that_the_scan_admits_is_read() {
        for levels in [1, 64, 126, 127, 128] {
            let text = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
            let admitted = Json::read(&text, &Limits::default()).is_ok();
            assert_eq!(Raw::written(&text).to_tree().is_ok(), admitted, "{levels}");
        }
    }

    #[test]
    fn reserved_keys_are_keys() {
        let text = r#"{"$serde_json::private::RawValue":"{\"dry_run\":true}"}"#;
        let usual: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(usual, json!({"dry_run": true}), "the usual parser gives the key a meaning");
        let tree = Raw::written(text).to_tree().expect("JSON");
        assert_eq!(tree["$serde_json::private::RawValue"], r#"{"dry_run":true}"#);
    }
}
