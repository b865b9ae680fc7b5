//! Variables in the values of clients, and those that secrets move to.

use std::path::Path;

/// A piece of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ValuePart {
    Literal(String),
    /// The name of an environment variable.
    Variable(String),
}

/// An environment variable that must be set before the start.
#[derive(Debug)]
pub(super) struct NeededVariable {
    pub(super) name: String,
    /// The places that use it.
    pub(super) used_for: String,
    /// The secret, to give equal secrets one variable. It is not printed.
    value: Option<String>,
}

/// All variables of the new file.
#[derive(Debug, Default)]
pub(super) struct VariableTable(pub(super) Vec<NeededVariable>);

impl VariableTable {
    /// Adds a variable that the value referred to.
    pub(super) fn refer(&mut self, name: &str, used_for: &str) {
        match self.0.iter_mut().find(|known| known.name == name) {
            Some(known) => add_use(known, used_for),
            None => self.0.push(NeededVariable {
                name: name.to_owned(),
                used_for: used_for.to_owned(),
                value: None,
            }),
        }
    }

    /// Moves a secret to a variable. The name gets the server in front if another secret has it.
    pub(super) fn move_secret(&mut self, wanted: &str, server: &str, secret: &str, used_for: &str) -> String {
        let names = [variable_name(wanted), variable_name(&format!("{server}_{wanted}"))];
        let numbered = (2..).map(|number| variable_name(&format!("{server}_{wanted}_{number}")));
        for name in names.into_iter().chain(numbered) {
            match self.0.iter_mut().find(|known| known.name == name) {
                Some(known) if known.value.as_deref() == Some(secret) => {
                    add_use(known, used_for);
                    return name;
                }
                Some(_) => {}
                None => {
                    let (used_for, value) = (used_for.to_owned(), Some(secret.to_owned()));
                    self.0.push(NeededVariable { name: name.clone(), used_for, value });
                    return name;
                }
            }
        }
        variable_name(wanted)
    }
}

fn add_use(known: &mut NeededVariable, used_for: &str) {
    if !known.used_for.contains(used_for) {
        known.used_for.push_str(&format!(", {used_for}"));
    }
}

/// The name of an environment variable that is closest to a text.
pub(super) fn variable_name(text: &str) -> String {
    let upper: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    let name = upper.trim_matches('_');
    if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() {
        return format!("VALUE_{name}");
    }
    name.to_owned()
}

/// Splits a value into text and variables, as the clients write them: `${NAME}`, `${env:NAME}`, `${NAME:-default}`,
/// `{env:NAME}`, `${input:id}`, `${workspaceFolder}`, `${userHome}`, and `$NAME` alone.
pub(super) fn parts(text: &str, workspace: &Path) -> Vec<ValuePart> {
    if let Some(name) = text.strip_prefix('$').filter(|name| is_variable(name)) {
        return vec![ValuePart::Variable(name.to_owned())];
    }
    let mut parts: Vec<ValuePart> = Vec::new();
    let mut rest = text;
    while let Some((before, found, after)) = next(rest, workspace) {
        push_literal(&mut parts, before);
        match found {
            ValuePart::Literal(text) => push_literal(&mut parts, &text),
            variable => parts.push(variable),
        }
        rest = after;
    }
    push_literal(&mut parts, rest);
    parts
}

fn push_literal(parts: &mut Vec<ValuePart>, text: &str) {
    match parts.last_mut() {
        Some(ValuePart::Literal(known)) => known.push_str(text),
        _ if text.is_empty() => {}
        _ => parts.push(ValuePart::Literal(text.to_owned())),
    }
}

/// The first variable of a text, with the texts before and behind it.
fn next<'t>(text: &'t str, workspace: &Path) -> Option<(&'t str, ValuePart, &'t str)> {
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.find('{')?;
        let inner = text.get(at + 1..)?;
        let length = inner.find('}')?;
        let (word, after) = (inner.get(..length)?, inner.get(length + 1..)?);
        let is_dollar = text.get(..at)?.ends_with('$');
        let found =
            if is_dollar { variable(word, workspace) } else { environment(word).map(ValuePart::Variable) };
        if let Some(part) = found {
            return Some((text.get(..at - usize::from(is_dollar))?, part, after));
        }
        from = at + 1;
    }
}

fn environment(word: &str) -> Option<String> {
    word.strip_prefix("env:").filter(|name| is_variable(name)).map(str::to_owned)
}

fn variable(word: &str, workspace: &Path) -> Option<ValuePart> {
    if let Some(name) = environment(word) {
        return Some(ValuePart::Variable(name));
    }
    if let Some(id) = word.strip_prefix("input:") {
        return Some(ValuePart::Variable(variable_name(id)));
    }
    match word {
        "workspaceFolder" | "workspaceRoot" => Some(ValuePart::Literal(workspace.display().to_string())),
        "userHome" => Some(ValuePart::Variable("HOME".to_owned())),
        "pathSeparator" | "/" => Some(ValuePart::Literal("/".to_owned())),
        _ => match word.split_once(":-") {
            Some((name, default)) if is_variable(name) => Some(match std::env::var_os(name) {
                Some(_) => ValuePart::Variable(name.to_owned()),
                None => ValuePart::Literal(default.to_owned()),
            }),
            _ => is_variable(word).then(|| ValuePart::Variable(word.to_owned())),
        },
    }
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::{ValuePart, VariableTable, parts, variable_name};
    use std::path::Path;

    #[test]
    fn variables_of_clients_are_understood() {
        let literal = |text: &str| ValuePart::Literal(text.to_owned());
        let variable = |name: &str| ValuePart::Variable(name.to_owned());
        for (text, expected) in [
            ("plain {x} $5", vec![literal("plain {x} $5")]),
            ("${A}", vec![variable("A")]),
            ("$A", vec![variable("A")]),
            ("Bearer ${env:A}!", vec![literal("Bearer "), variable("A"), literal("!")]),
            ("{env:A}", vec![variable("A")]),
            ("${input:github-token}", vec![variable("GITHUB_TOKEN")]),
            ("${workspaceFolder}/x", vec![literal("/shop/x")]),
            ("${FAILWELL_NONE:-a}b", vec![literal("ab")]),
            ("${PATH:-a}", vec![variable("PATH")]),
            ("${a b}${", vec![literal("${a b}${")]),
            ("", vec![]),
        ] {
            assert_eq!(parts(text, Path::new("/shop")), expected, "{text}");
        }
    }

    #[test]
    fn equal_secrets_share_a_variable_and_others_do_not() {
        let mut table = VariableTable::default();
        assert_eq!(table.move_secret("API_KEY", "a", "one", "env of a"), "API_KEY");
        assert_eq!(table.move_secret("API_KEY", "b", "one", "env of b"), "API_KEY");
        assert_eq!(table.move_secret("API_KEY", "c-d", "two", "env of c-d"), "C_D_API_KEY");
        assert_eq!(table.move_secret("API_KEY", "c-d", "three", "env of c-d"), "C_D_API_KEY_2");
        assert_eq!(table.0[0].used_for, "env of a, env of b");
        assert_eq!(variable_name("1st-key"), "VALUE_1ST_KEY");
    }
}
