//! The types that `type` names.

use serde_json::Value;

use crate::schema::number;

/// In the order in which they are listed to a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum JsonType {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl JsonType {
    fn parse(name: &str) -> Option<JsonType> {
        Some(match name {
            "null" => JsonType::Null,
            "boolean" => JsonType::Boolean,
            "integer" => JsonType::Integer,
            "number" => JsonType::Number,
            "string" => JsonType::String,
            "array" => JsonType::Array,
            "object" => JsonType::Object,
            _ => return None,
        })
    }

    /// One name, or a list of different names.
    pub(super) fn parse_list(value: &Value) -> Option<Vec<JsonType>> {
        let Value::Array(names) = value else { return Some(vec![JsonType::parse(value.as_str()?)?]) };
        let mut types: Vec<JsonType> =
            names.iter().map(|name| JsonType::parse(name.as_str()?)).collect::<Option<_>>()?;
        types.sort_unstable();
        types.dedup();
        (!types.is_empty() && types.len() == names.len()).then_some(types)
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            JsonType::Null => "null",
            JsonType::Boolean => "boolean",
            JsonType::Integer => "integer",
            JsonType::Number => "number",
            JsonType::String => "string",
            JsonType::Array => "array",
            JsonType::Object => "object",
        }
    }

    /// Whether a value has this type. `1.0` is an integer.
    pub(super) fn holds(self, value: &Value) -> bool {
        match self {
            JsonType::Null => value.is_null(),
            JsonType::Boolean => value.is_boolean(),
            JsonType::Integer => value.as_number().is_some_and(number::is_integer),
            JsonType::Number => value.is_number(),
            JsonType::String => value.is_string(),
            JsonType::Array => value.is_array(),
            JsonType::Object => value.is_object(),
        }
    }
}
