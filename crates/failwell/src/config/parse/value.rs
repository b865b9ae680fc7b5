//! Types and conversions of TOML values.

use serde_json::Value;
use toml::de::DeValue;

/// The type of a value, for messages.
pub(super) fn sort(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// Converts a value to JSON.
pub(super) fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(_) => {
            number(value).and_then(|number| i64::try_from(number).ok()).map_or(Value::Null, Value::from)
        }
        DeValue::Float(float) => float.as_str().parse::<f64>().map_or(Value::Null, Value::from),
        DeValue::Boolean(flag) => Value::from(*flag),
        DeValue::Datetime(date) => Value::from(date.to_string()),
        DeValue::Array(items) => items.iter().map(|item| json(item.get_ref())).collect(),
        DeValue::Table(table) => Value::Object(
            table.iter().map(|(name, value)| (name.get_ref().to_string(), json(value.get_ref()))).collect(),
        ),
    }
}

/// A whole number of any size, or `None` for other types.
pub(super) fn number(value: &DeValue<'_>) -> Option<i128> {
    match value {
        // A number beyond `i128` is outside of every range, so only its sign matters.
        DeValue::Integer(integer) => Some(
            i128::from_str_radix(integer.as_str(), integer.radix())
                .unwrap_or(if integer.as_str().starts_with('-') { i128::MIN } else { i128::MAX }),
        ),
        _ => None,
    }
}
