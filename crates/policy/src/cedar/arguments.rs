//! Arguments as Cedar sees them. Cedar has whole numbers of 64 bits, and neither fractions nor null.

use failwell_rpc::Raw;
use serde_json::{Map, Number, Value};

/// The names that lead to a value. Elements of a list have the path of the list.
pub(super) type ValuePath = Vec<String>;

/// The arguments of a call, and the places of values that Cedar cannot represent.
#[derive(Debug)]
pub(super) struct CedarArguments {
    pub(super) value: Value,
    pub(super) undecidable: Vec<ValuePath>,
}

/// Integers beyond this size may be rounded when they are written as a fraction or with an exponent.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl CedarArguments {
    /// `None` for a text that is not an object. Requests without arguments have an empty record.
    pub(super) fn parse(text: Option<&str>) -> Option<CedarArguments> {
        let members = match text.map(|text| Raw::written(text).to_tree()) {
            None => Map::new(),
            Some(Ok(Value::Object(members))) => members,
            Some(_) => return None,
        };
        let mut found = CedarArguments { value: Value::Null, undecidable: Vec::new() };
        found.value = found.members(members, &mut Vec::new());
        Some(found)
    }

    /// Names that begin with `__` are reserved in Cedar's JSON format: an argument must not pose as an entity.
    fn members(&mut self, members: Map<String, Value>, path: &mut ValuePath) -> Value {
        let mut plain = Map::new();
        for (name, value) in members {
            path.push(name);
            if path.last().is_some_and(|name| name.starts_with("__")) {
                self.undecidable.push(path.clone());
                path.pop();
                continue;
            }
            let value = self.convert(value, path);
            plain.extend(path.pop().map(|name| (name, value)));
        }
        Value::Object(plain)
    }

    /// An empty record stands for a value without a type: the argument is there, whatever it is.
    fn convert(&mut self, value: Value, path: &mut ValuePath) -> Value {
        match value {
            Value::Number(number) => match whole(&number) {
                Some(number) => Value::from(number),
                None => self.without_type(path),
            },
            Value::Null => self.without_type(path),
            Value::Array(items) => items.into_iter().map(|item| self.convert(item, path)).collect(),
            Value::Object(members) => self.members(members, path),
            other => other,
        }
    }

    fn without_type(&mut self, path: &ValuePath) -> Value {
        self.undecidable.push(path.clone());
        Value::Object(Map::new())
    }
}

/// The value of a whole number in any spelling: `5000`, `5000.0`, `5e3`.
fn whole(number: &Number) -> Option<i64> {
    let exact = |value: f64| value.fract() == 0.0 && value.abs() < EXACT;
    number.as_i64().or_else(|| number.as_f64().filter(|value| exact(*value)).map(|value| value as i64))
}

#[cfg(test)]
mod tests {
    use super::CedarArguments;

    #[test]
    fn whole_numbers_have_a_value_and_others_a_place() {
        for (text, value, undecidable) in [
            (r#"{"a":5000}"#, r#"{"a":5000}"#, ""),
            (r#"{"a":5000.0}"#, r#"{"a":5000}"#, ""),
            (r#"{"a":5e3}"#, r#"{"a":5000}"#, ""),
            (r#"{"a":-5E+3}"#, r#"{"a":-5000}"#, ""),
            (r#"{"a":-0.0}"#, r#"{"a":0}"#, ""),
            (r#"{"a":9223372036854775807}"#, r#"{"a":9223372036854775807}"#, ""),
            (r#"{"a":9223372036854775808}"#, r#"{"a":{}}"#, "a"),
            (r#"{"a":1e30}"#, r#"{"a":{}}"#, "a"),
            (r#"{"a":5000.5}"#, r#"{"a":{}}"#, "a"),
            (r#"{"a":null,"b":1}"#, r#"{"a":{},"b":1}"#, "a"),
            (r#"{"a":{"b":[1,null]}}"#, r#"{"a":{"b":[1,{}]}}"#, "a.b"),
            (r#"{"a":{"__entity":{}}}"#, r#"{"a":{}}"#, "a.__entity"),
            (
                r#"{"a":{"$serde_json::private::RawValue":"5"}}"#,
                r#"{"a":{"$serde_json::private::RawValue":"5"}}"#,
                "",
            ),
        ] {
            let found = CedarArguments::parse(Some(text)).expect(text);
            let places: Vec<String> = found.undecidable.iter().map(|path| path.join(".")).collect();
            assert_eq!(
                (found.value.to_string().as_str(), places.join(" ").as_str()),
                (value, undecidable),
                "{text}"
            );
        }
    }

    #[test]
    fn unreadable_arguments_are_not_empty_ones() {
        for text in ["[1]", "null", "not json", "", r#"{"a":1"#] {
            assert!(CedarArguments::parse(Some(text)).is_none(), "{text}");
        }
        assert!(CedarArguments::parse(None).is_some_and(|found| found.value == serde_json::json!({})));
    }
}
