//! Values of the file by their names.

use toml::de::DeValue;

/// What a value is, in words.
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

/// A whole number of any size and sign; `None` for what is none.
pub(super) fn number(value: &DeValue<'_>) -> Option<i128> {
    match value {
        // What does not even fit here is out of every range, so its sign is all that counts.
        DeValue::Integer(integer) => Some(
            i128::from_str_radix(integer.as_str(), integer.radix())
                .unwrap_or(if integer.as_str().starts_with('-') { i128::MIN } else { i128::MAX }),
        ),
        _ => None,
    }
}
