//! Values as TOML writes them, and commands as a shell does.

use super::variables::ValuePart;

/// A basic string. JSON has the same escapes, but leaves the delete character as it is.
pub(super) fn text(value: &str) -> String {
    serde_json::Value::from(value).to_string().replace('\u{7f}', "\\u007F")
}

pub(super) fn list(values: &[String]) -> String {
    format!("[{}]", values.iter().map(|value| text(value)).collect::<Vec<_>>().join(", "))
}

/// An inline table. A name that is no bare key is quoted.
pub(super) fn table(pairs: &[(String, String)]) -> String {
    let is_bare = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    };
    let key = |name: &str| if is_bare(name) { name.to_owned() } else { text(name) };
    let pairs: Vec<String> =
        pairs.iter().map(|(name, value)| format!("{} = {}", key(name), text(value))).collect();
    format!("{{ {} }}", pairs.join(", "))
}

/// A value with the placeholders of the configuration.
pub(super) fn placeholders(parts: &[ValuePart]) -> String {
    let part = |part: &ValuePart| match part {
        ValuePart::Literal(text) => text.replace("${", "$${"),
        ValuePart::Variable(name) => format!("${{{name}}}"),
    };
    parts.iter().map(part).collect()
}

/// A word of a shell command, in which variables are expanded.
pub(super) fn shell_word(parts: &[ValuePart]) -> String {
    let is_plain = |text: &str| {
        text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:=@,+%".contains(c)) && !text.is_empty()
    };
    let part = |part: &ValuePart| match part {
        ValuePart::Literal(text) if is_plain(text) => text.clone(),
        ValuePart::Literal(text) => format!("'{}'", text.replace('\'', "'\\''")),
        ValuePart::Variable(name) => format!("\"${name}\""),
    };
    match parts {
        [] => "''".to_owned(),
        parts => parts.iter().map(part).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{ValuePart, placeholders, shell_word, table, text};

    #[test]
    fn values_are_written_so_that_they_are_read_as_they_were() {
        let odd = "a\"b\\c\n\t\u{1}\u{7f}é'${X}";
        let file = format!("a = {}\nb = {}\n", text(odd), table(&[("X.y".to_owned(), odd.to_owned())]));
        let read: toml::Table = toml::from_str(&file).expect("TOML");
        assert_eq!(read["a"].as_str(), Some(odd));
        assert_eq!(read["b"]["X.y"].as_str(), Some(odd));
        let parts = [ValuePart::Literal("it's ${A} ".to_owned()), ValuePart::Variable("B".to_owned())];
        assert_eq!(placeholders(&parts), "it's $${A} ${B}");
        assert_eq!(shell_word(&parts), "'it'\\''s ${A} '\"$B\"");
        assert_eq!(shell_word(&[]), "''");
    }
}
