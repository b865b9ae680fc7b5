//! A test that fails until a counterexample is fixed, ready to be pasted into a test file.

use std::collections::BTreeSet;

use crate::PyValue;
use crate::analyse::report::Counterexample;

/// The test. `number` distinguishes several tests of one function.
pub(super) fn test(function: &str, module: &str, found: &Counterexample, number: Option<usize>) -> String {
    let mut imported: BTreeSet<&str> = BTreeSet::new();
    imported.insert(function.split('.').next().unwrap_or(function));
    for (_, value) in &found.inputs.args {
        classes(value, &mut imported);
    }
    let names: Vec<&str> = imported.into_iter().collect();
    let condition = postcondition(&found.violation);
    let mut text = String::new();
    if condition.is_some_and(|condition| condition.contains("__old__") || condition.contains("OLD")) {
        text.push_str("from types import SimpleNamespace\n\n");
    }
    text.push_str(&format!("from {module} import {}\n\n\n", names.join(", ")));
    let suffix = number.map(|number| format!("_{number}")).unwrap_or_default();
    text.push_str(&format!("def test_{}{suffix}():\n", function.replace('.', "_")));
    text.push_str(&format!("    # {}\n", one_line(&found.violation)));
    text.push_str(&format!("    # result: {}\n", one_line(&found.actual_result)));
    match condition {
        None => {
            text.push_str(&format!("    {}\n", crate::server::tools::format_call(function, &found.inputs)))
        }
        Some(condition) => text.push_str(&with_condition(function, found, condition)),
    }
    text
}

/// The arguments by name, the call, and the original condition.
fn with_condition(function: &str, found: &Counterexample, condition: &str) -> String {
    let mut text = String::new();
    for (name, value) in &found.inputs.args {
        text.push_str(&format!("    {name} = {}\n", value.to_literal()));
    }
    if condition.contains("__old__") || condition.contains("OLD") {
        let copies: Vec<String> =
            found.inputs.args.iter().map(|(name, value)| format!("{name}={}", value.to_literal())).collect();
        text.push_str(&format!("    __old__ = OLD = SimpleNamespace({})\n", copies.join(", ")));
    }
    let one = |(place, (name, _)): (usize, &(String, PyValue))| {
        if place < found.inputs.positional { name.clone() } else { format!("{name}={name}") }
    };
    let arguments: Vec<String> = found.inputs.args.iter().enumerate().map(one).collect();
    text.push_str(&format!("    _ = __return__ = result = {function}({})\n", arguments.join(", ")));
    text.push_str(&format!("    assert {condition}\n"));
    text
}

/// The postcondition that a violation names, if it is one.
fn postcondition(violation: &str) -> Option<&str> {
    let (head, condition) = violation.split_once(": ")?;
    let named = head.starts_with("postcondition") || head.starts_with("ensure");
    (named && !condition.contains('\n') && !condition.is_empty()).then_some(condition)
}

fn classes<'a>(value: &'a PyValue, found: &mut BTreeSet<&'a str>) {
    match value {
        PyValue::Tuple(items) | PyValue::List(items) | PyValue::Set(items) | PyValue::FrozenSet(items) => {
            items.iter().for_each(|item| classes(item, found));
        }
        PyValue::Dict(entries) => entries.iter().for_each(|(key, item)| {
            classes(key, found);
            classes(item, found);
        }),
        PyValue::EnumMember { class, .. } => {
            found.insert(class);
        }
        PyValue::Instance { class, fields } => {
            found.insert(class);
            fields.iter().for_each(|field| classes(&field.value, found));
        }
        _ => {}
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::test;
    use crate::PyValue;
    use crate::analyse::report::{Counterexample, Inputs};

    fn found(violation: &str, args: Vec<(String, PyValue)>, positional: usize) -> Counterexample {
        Counterexample {
            inputs: Inputs { args, positional },
            violation: violation.to_owned(),
            actual_result: "-1".to_owned(),
            path_condition: String::new(),
            line: 3,
            stack_trace: String::new(),
        }
    }

    #[test]
    fn a_broken_postcondition_is_asserted_as_it_was_written() {
        let args = vec![("x".to_owned(), PyValue::int(-1)), ("k".to_owned(), PyValue::List(vec![]))];
        let text = test("f", "shop", &found("postcondition at line 3: _ > 0", args, 1), None);
        let expected = "from shop import f\n\n\ndef test_f():\n    # postcondition at line 3: _ > 0\n    # result: -1\n    x = -1\n    k = []\n    _ = __return__ = result = f(x, k=k)\n    assert _ > 0\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn an_exception_is_a_call_that_must_not_raise() {
        let member = PyValue::EnumMember { class: "Colour".to_owned(), member: "RED".to_owned() };
        let text = test("C.m", "m", &found("ValueError: no", vec![("c".to_owned(), member)], 1), Some(2));
        assert!(text.starts_with("from m import C, Colour\n"), "{text}");
        assert!(text.contains("def test_C_m_2():") && text.ends_with("    C.m(Colour.RED)\n"), "{text}");
    }
}
