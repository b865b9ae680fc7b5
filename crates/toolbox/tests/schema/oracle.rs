//! The violations that the crate `jsonschema` finds, in our words. Tests of servers use this file, too: their tools have
//! schemas that matter.

use failwell_fault::{Fact, Pointer, Rule, Violation};
use failwell_toolbox::{Schema, nearest};
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value, json};

pub(crate) struct Oracle {
    document: Value,
    validator: Validator,
}

impl Oracle {
    /// Formats are annotations for us in every draft; newer drafts have it so.
    pub(crate) fn new(document: &Value) -> Option<Oracle> {
        let validator = jsonschema::options().should_validate_formats(false).build(document).ok()?;
        Some(Oracle { document: document.clone(), validator })
    }

    pub(crate) fn violations(&self, value: &Value) -> Vec<Violation> {
        let errors = self.validator.iter_errors(value).take(100).flat_map(|error| self.of_error(&error));
        // It misses a required member that is there, when `properties` does not name it.
        let is_there = |one: &Violation| value.pointer(&one.pointer.to_string()).is_some();
        errors.filter(|one| one.rule != Rule::Required || !is_there(one)).collect()
    }

    fn of_error(&self, error: &ValidationError<'_>) -> Vec<Violation> {
        let steps = error.instance_path().as_str().split('/').skip(1);
        let place = steps
            .fold(Pointer::root(), |at, segment| at.then(&segment.replace("~1", "/").replace("~0", "~")));
        let one = |rule| vec![Violation::new(place.clone(), rule)];
        let bounded = |rule, limit: &Value| vec![limited(Violation::new(place.clone(), rule), limit)];
        let counted = |rule, limit: u64| vec![Violation::new(place.clone(), rule).limit(limit)];
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                vec![Violation::new(place.then(property.as_str().expect("a name")), Rule::Required)]
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                unexpected.iter().map(|key| self.unknown(place.clone(), key)).collect()
            }
            ValidationErrorKind::Type { kind } => {
                vec![Violation::new(place, Rule::Type).limit(type_names(kind))]
            }
            ValidationErrorKind::Enum { options } => bounded(Rule::Choice, options),
            ValidationErrorKind::Constant { expected_value } => bounded(Rule::Constant, expected_value),
            ValidationErrorKind::Minimum { limit } | ValidationErrorKind::ExclusiveMinimum { limit } => {
                bounded(Rule::Minimum, limit)
            }
            ValidationErrorKind::Maximum { limit } | ValidationErrorKind::ExclusiveMaximum { limit } => {
                bounded(Rule::Maximum, limit)
            }
            ValidationErrorKind::MultipleOf { multiple_of } => {
                vec![Violation::new(place, Rule::MultipleOf).limit(*multiple_of)]
            }
            ValidationErrorKind::MinLength { limit } => counted(Rule::MinLength, *limit),
            ValidationErrorKind::MaxLength { limit } => counted(Rule::MaxLength, *limit),
            ValidationErrorKind::MinItems { limit } => counted(Rule::MinItems, *limit),
            ValidationErrorKind::MaxItems { limit } => counted(Rule::MaxItems, *limit),
            ValidationErrorKind::UniqueItems => one(Rule::UniqueItems),
            ValidationErrorKind::Pattern { .. } => one(Rule::Pattern),
            ValidationErrorKind::AnyOf { .. }
            | ValidationErrorKind::OneOfNotValid { .. }
            | ValidationErrorKind::OneOfMultipleValid { .. } => one(Rule::Combination),
            _ => one(Rule::Schema),
        }
    }

    fn unknown(&self, place: Pointer, key: &str) -> Violation {
        let known = self.document.get("properties").and_then(Value::as_object);
        let names = known.into_iter().flat_map(|properties| properties.keys().map(String::as_str));
        let violation = Violation::new(place.then(key), Rule::Unknown);
        match nearest(key, names).into_iter().next() {
            Some(name) => violation.nearest(name),
            None => violation,
        }
    }
}

fn limited(violation: Violation, limit: &Value) -> Violation {
    match Schema::limit_of(limit) {
        Some(limit) => violation.limit(limit),
        None => violation,
    }
}

fn type_names(kind: &TypeKind) -> Fact {
    match kind {
        TypeKind::Single(kind) => Fact::from(kind.as_str()),
        TypeKind::Multiple(kinds) => Fact::from(kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>()),
    }
}

/// Violations as a caller sees them.
pub(crate) fn lines(violations: &[Violation]) -> Vec<String> {
    violations.iter().map(|one| format!("{} {:?}: {}", one.pointer, one.rule, one.message())).collect()
}

/// Both validators find the same violations, in the same order, in values that nearly fit a schema.
pub(crate) fn agree_on_mutations(name: &str, schema: &Value) {
    let oracle = Oracle::new(schema).unwrap_or_else(|| panic!("{name} does not compile there"));
    let ours =
        Schema::new(schema.clone()).unwrap_or_else(|fault| panic!("{name} does not compile: {fault:?}"));
    let mut values = vec![json!(null), json!([]), json!("text"), json!({})];
    values.extend(mutated(&example(schema, schema, 4)));
    for value in values {
        let (found, expected) = (ours.violations_in(&value.to_string()), oracle.violations(&value));
        assert!(
            agree(&found, &expected),
            "{name}: {value} against {schema}\n  ours: {:?}\n  theirs: {:?}",
            lines(&found),
            lines(&expected)
        );
    }
}

/// Both found the same, in the same order. Where the oracle only says that no alternative fits, ours may say what the
/// alternative lacks that the value names.
pub(crate) fn agree(found: &[Violation], expected: &[Violation]) -> bool {
    let Some((first, rest)) = expected.split_first() else { return found.is_empty() };
    let Some((ours, more)) = found.split_first() else { return false };
    if lines(std::slice::from_ref(first)) == lines(std::slice::from_ref(ours)) {
        return agree(more, rest);
    }
    let place = first.pointer.to_string();
    let inside = |violation: &&Violation| violation.pointer.to_string().starts_with(&place);
    let of_alternative = found.iter().take_while(inside).count();
    first.rule == Rule::Combination && (1..=of_alternative).any(|count| agree(&found[count..], rest))
}

/// A value with all the members and items that a schema names.
fn example(schema: &Value, root: &Value, depth: u32) -> Value {
    let Some(deeper) = depth.checked_sub(1) else { return Value::Null };
    let target =
        schema.get("$ref").and_then(Value::as_str).and_then(|to| root.pointer(to.trim_start_matches('#')));
    if let Some(target) = target {
        return example(target, root, deeper);
    }
    for list in ["enum", "anyOf", "oneOf"] {
        match schema.get(list).and_then(|all| all.get(0)) {
            Some(first) if list == "enum" => return first.clone(),
            Some(first) => return example(first, root, deeper),
            None => {}
        }
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let members = properties.iter().map(|(name, schema)| (name.clone(), example(schema, root, deeper)));
        return Value::Object(members.collect());
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => json!("/text"),
        Some("integer") => json!(2),
        Some("number") => json!(2.5),
        Some("boolean") => json!(true),
        Some("array") => json!([example(schema.get("items").unwrap_or(&Value::Null), root, deeper)]),
        Some("object") => json!({}),
        _ => Value::Null,
    }
}

/// The value, and what it is with one thing changed somewhere in it.
fn mutated(value: &Value) -> Vec<Value> {
    let wrong = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1.5),
        json!(1e9),
        json!(""),
        json!("x y"),
        json!([]),
        json!({}),
    ];
    let mut all = vec![value.clone()];
    all.extend(wrong);
    match value {
        Value::Object(members) => all.extend(mutated_members(members)),
        Value::Array(items) => {
            let twice: Vec<Value> = items.iter().chain(items).cloned().collect();
            all.push(Value::Array(twice.clone()));
            all.push(twice.into_iter().chain([json!(1), json!("x")]).collect());
            all.extend(items.iter().flat_map(mutated).map(|item| json!([item])));
        }
        _ => {}
    }
    all
}

fn mutated_members(members: &Map<String, Value>) -> Vec<Value> {
    let mut all = Vec::new();
    for (name, value) in members {
        let mut without = members.clone();
        without.shift_remove(name);
        let mut misspelt = without.clone();
        misspelt.insert(format!("{name}s"), value.clone());
        misspelt.insert("x-~/own".to_owned(), json!(1));
        all.extend([Value::Object(without), Value::Object(misspelt)]);
        all.extend(mutated(value).into_iter().map(|value| {
            let mut changed = members.clone();
            changed.insert(name.clone(), value);
            Value::Object(changed)
        }));
    }
    let all_wrong =
        members.keys().map(|name| (name.clone(), json!([{}]))).chain([("abcd".to_owned(), json!(1))]);
    all.push(Value::Object(all_wrong.collect()));
    all
}
