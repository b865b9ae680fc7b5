//! Arguments made from a tool's schema: the fewest that fit, and some that cannot.

use serde_json::{Map, Value, json};

const DEPTH: usize = 6;

/// The fewest arguments the schema asks for; `None` when the examiner cannot make them.
pub(super) fn minimal(schema: &Value) -> Option<Value> {
    value(schema, schema, DEPTH).filter(Value::is_object)
}

/// Arguments with one property of a type its schema excludes.
pub(super) fn wrong_type(schema: &Value) -> Option<Value> {
    let mut arguments = minimal(schema).unwrap_or_else(|| json!({}));
    let properties = schema.get("properties")?.as_object()?;
    // An object is what lenient readers coerce least: "5" may pass for 5 and 5 for "5".
    let (name, _) = properties.iter().find(|(_, property)| {
        matches!(
            property.get("type").and_then(Value::as_str),
            Some("string" | "number" | "integer" | "boolean" | "array")
        )
    })?;
    arguments.as_object_mut()?.insert(name.clone(), json!({"not": "of this type"}));
    Some(arguments)
}

/// Whether leaving out every argument breaks the schema.
pub(super) fn requires_something(schema: &Value) -> bool {
    schema.get("required").and_then(Value::as_array).is_some_and(|names| !names.is_empty())
}

fn value(schema: &Value, root: &Value, depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    let schema = resolve(schema, root)?;
    if let Some(fixed) = schema.get("const").or_else(|| schema.get("default")) {
        return Some(fixed.clone());
    }
    if let Some(first) = schema.get("enum").and_then(Value::as_array).and_then(|all| all.first()) {
        return Some(first.clone());
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(options) = schema.get(key).and_then(Value::as_array) {
            return options.iter().find_map(|option| value(option, root, depth));
        }
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
        Some(kind) => kind.as_str(),
        None if schema.get("properties").is_some() => Some("object"),
        None => Some("string"),
    };
    match kind? {
        "object" => object(schema, root, depth),
        "array" => array(schema, root, depth),
        "string" => string(schema),
        "integer" | "number" => Some(number(schema)),
        "boolean" => Some(json!(false)),
        "null" => Some(Value::Null),
        _ => None,
    }
}

fn resolve<'a>(schema: &'a Value, root: &'a Value) -> Option<&'a Value> {
    match schema.get("$ref").and_then(Value::as_str) {
        Some(target) => root.pointer(target.strip_prefix('#')?),
        None => Some(schema),
    }
}

fn object(schema: &Value, root: &Value, depth: usize) -> Option<Value> {
    let mut made = Map::new();
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        let property = schema.get("properties").and_then(|all| all.get(name));
        made.insert(name.to_owned(), value(property.unwrap_or(&Value::Null), root, depth)?);
    }
    Some(Value::Object(made))
}

fn array(schema: &Value, root: &Value, depth: usize) -> Option<Value> {
    let count = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0).min(4);
    let item = schema.get("items").unwrap_or(&Value::Null);
    (0..count).map(|_| value(item, root, depth)).collect::<Option<Vec<_>>>().map(Value::Array)
}

fn string(schema: &Value) -> Option<Value> {
    if schema.get("pattern").is_some() {
        return None;
    }
    let text = match schema.get("format").and_then(Value::as_str) {
        Some("date") => "2026-01-01".to_owned(),
        Some("date-time") => "2026-01-01T00:00:00Z".to_owned(),
        Some("uri" | "url") => "http://127.0.0.1:9/".to_owned(),
        Some("email") => "probe@example.invalid".to_owned(),
        Some("uuid") => "00000000-0000-4000-8000-000000000000".to_owned(),
        _ => {
            let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0).min(256);
            let mut text = "probe".to_owned();
            while (text.len() as u64) < least {
                text.push('x');
            }
            let most = schema.get("maxLength").and_then(Value::as_u64).unwrap_or(u64::MAX);
            text.truncate(usize::try_from(most).unwrap_or(usize::MAX));
            text
        }
    };
    Some(text.into())
}

fn number(schema: &Value) -> Value {
    let bound = |key: &str| schema.get(key).and_then(Value::as_i64);
    let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|edge| edge.saturating_add(1)));
    let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|edge| edge.saturating_sub(1)));
    json!(1.max(least.unwrap_or(1)).min(most.unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::{minimal, requires_something, wrong_type};
    use serde_json::{Value, json};

    fn check(schema: Value, expected: Option<Value>) {
        assert_eq!(minimal(&schema), expected, "{schema}");
    }

    #[test]
    fn the_fewest_arguments_fit_the_schema() {
        check(json!({"type": "object"}), Some(json!({})));
        let string =
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]});
        check(string, Some(json!({"a": "probe"})));
        let bounded = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "minimum": 5}}});
        check(bounded, Some(json!({"n": 5})));
        let chosen = json!({"type": "object", "required": ["n"], "properties": {"n": {"enum": ["x", "y"]}}});
        check(chosen, Some(json!({"n": "x"})));
        let linked = json!({"type": "object", "required": ["n"], "properties": {"n": {"$ref": "#/$defs/N"}}, "$defs": {"N": {"type": "boolean"}}});
        check(linked, Some(json!({"n": false})));
        let pattern = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "string", "pattern": "^x$"}}});
        check(pattern, None);
    }

    #[test]
    fn a_schema_that_loops_is_given_up() {
        let loops = json!({"type": "object", "required": ["n"], "properties": {"n": {"$ref": "#"}}});
        check(loops, None);
    }

    #[test]
    fn wrong_types_replace_one_property() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        assert_eq!(wrong_type(&schema), Some(json!({"a": {"not": "of this type"}})));
        assert!(requires_something(&schema));
        assert_eq!(wrong_type(&json!({"type": "object"})), None);
    }
}
