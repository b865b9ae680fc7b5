//! Arguments of a tool from the command line, typed by its schema.

use std::collections::BTreeSet;

use failwell_toolbox::nearest;
use serde_json::{Map, Value};

use super::CallError;
use crate::complaint::Complaint;

/// References that are followed from one property.
const MOST_STEPS: usize = 16;

/// The words of a call: arguments, and an address.
pub(super) struct CallWords<'w> {
    pub(super) pairs: Vec<&'w str>,
    pub(super) url: Option<&'w str>,
}

/// Tells arguments from the address of the server.
pub(super) fn split(words: &[String]) -> Result<CallWords<'_>, CallError> {
    let is_url = |word: &str| word.starts_with("http://") || word.starts_with("https://");
    let (urls, pairs): (Vec<&str>, Vec<&str>) =
        words.iter().map(String::as_str).partition(|word| is_url(word));
    if let Some(odd) = pairs.iter().find(|word| !word.contains('=')) {
        return Err(usage(
            format!("`{odd}` is no argument"),
            "write arguments as key=value or key:=JSON, and an address with http:// or https://",
        ));
    }
    match urls.as_slice() {
        [] => Ok(CallWords { pairs, url: None }),
        [url] => Ok(CallWords { pairs, url: Some(url) }),
        _ => Err(usage("there are several addresses".to_owned(), "name one server")),
    }
}

/// The arguments as the schema of the tool types them.
pub(super) fn arguments(
    schema: &Value,
    json: Option<&str>,
    pairs: &[&str],
) -> Result<Map<String, Value>, CallError> {
    let mut arguments = json.map(object).transpose()?.unwrap_or_default();
    for pair in pairs {
        let (name, value) = argument(schema, pair)?;
        if json.is_none() && arguments.contains_key(&name) {
            return Err(usage(format!("`{name}` is given twice"), "give a list as JSON: key:=[1,2]"));
        }
        arguments.insert(name, value);
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let absent: Vec<String> = required
        .filter_map(Value::as_str)
        .filter(|name| !arguments.contains_key(*name))
        .map(|name| format!("`{name}`"))
        .collect();
    if absent.is_empty() {
        return Ok(arguments);
    }
    Err(usage(
        format!("the tool needs {}", absent.join(", ")),
        "add key=value; `failwell tools` lists what it takes",
    ))
}

fn object(text: &str) -> Result<Map<String, Value>, CallError> {
    match serde_json::from_str(text) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(usage("--json-arguments is no object".to_owned(), "write it as '{\"key\": \"value\"}'")),
        Err(error) => {
            Err(usage(format!("--json-arguments is no JSON: {error}"), "write it as '{\"key\": \"value\"}'"))
        }
    }
}

fn argument(schema: &Value, pair: &str) -> Result<(String, Value), CallError> {
    let (key, text) = pair.split_once('=').unwrap_or((pair, ""));
    let raw = key.strip_suffix(':');
    let name = raw.unwrap_or(key);
    let property = property(schema, name)?;
    if raw.is_some() {
        let value = serde_json::from_str(text);
        let help = "write JSON after := , such as n:=[1,2] or n:='\"text\"'";
        return value
            .map(|value| (name.to_owned(), value))
            .map_err(|error| usage(format!("the value of `{name}` is no JSON: {error}"), help));
    }
    let types = property.map(|property| types_of(schema, property)).unwrap_or_default();
    let value = typed(text, &types).ok_or_else(|| {
        let wanted: Vec<&str> = types.iter().copied().collect();
        let title = format!("`{name}` must be {}", wanted.join(" or "));
        usage(title, &format!("write JSON as {name}:=…, or text that is one"))
    })?;
    Ok((name.to_owned(), value))
}

/// The schema of an argument; `None` if the tool takes any name.
fn property<'s>(schema: &'s Value, name: &str) -> Result<Option<&'s Value>, CallError> {
    let known = schema.get("properties").and_then(Value::as_object);
    let known = known.or_else(|| follow(schema, schema).get("properties").and_then(Value::as_object));
    let takes_any = matches!(schema.get("additionalProperties"), Some(Value::Bool(true) | Value::Object(_)));
    match known {
        Some(known) if known.contains_key(name) => Ok(known.get(name)),
        Some(known) if !known.is_empty() && !takes_any => {
            let near = nearest(name, known.keys().map(String::as_str));
            let help = match near.first() {
                Some(near) => format!("did you mean `{}`?", near.as_str()),
                None => format!("it takes {}", known.keys().cloned().collect::<Vec<_>>().join(", ")),
            };
            Err(usage(format!("the tool has no argument `{name}`"), &help))
        }
        _ => Ok(None),
    }
}

/// The types that a schema allows, as far as it says so.
fn types_of<'s>(root: &'s Value, schema: &'s Value) -> BTreeSet<&'s str> {
    let mut types = BTreeSet::new();
    collect(root, schema, MOST_STEPS, &mut types);
    types
}

fn collect<'s>(root: &'s Value, schema: &'s Value, steps: usize, types: &mut BTreeSet<&'s str>) {
    let Some(steps) = steps.checked_sub(1) else { return };
    let schema = follow(root, schema);
    match schema.get("type") {
        Some(Value::String(one)) => {
            types.insert(one);
        }
        Some(Value::Array(several)) => types.extend(several.iter().filter_map(Value::as_str)),
        _ => {}
    }
    let values =
        schema.get("enum").and_then(Value::as_array).into_iter().flatten().chain(schema.get("const"));
    for value in values.filter(|_| schema.get("type").is_none()) {
        types.insert(type_of(value));
    }
    for several in ["anyOf", "oneOf", "allOf"] {
        let inner = schema.get(several).and_then(Value::as_array).into_iter().flatten();
        inner.for_each(|inner| collect(root, inner, steps, types));
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The schema that a reference within the document points to.
fn follow<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let mut found = schema;
    for _ in 0..MOST_STEPS {
        let place = found.get("$ref").and_then(Value::as_str).and_then(|place| place.strip_prefix('#'));
        match place.and_then(|place| root.pointer(place)) {
            Some(next) => found = next,
            None => break,
        }
    }
    found
}

/// The text as one of the types. Without any, it is a number, true or false if it looks like one, and text otherwise.
fn typed(text: &str, types: &BTreeSet<&str>) -> Option<Value> {
    let parsed = serde_json::from_str::<Value>(text).ok();
    let allows = |value: &Value| match value {
        Value::Number(number) => {
            types.contains("number") || types.contains("integer") && (number.is_i64() || number.is_u64())
        }
        // `x=null` is a text where the tool takes texts.
        Value::Null => types.contains("null") && !types.contains("string"),
        Value::String(_) => false,
        other => types.contains(type_of(other)),
    };
    let text = || Value::String(text.to_owned());
    if types.is_empty() {
        return Some(
            parsed.filter(|value| matches!(value, Value::Number(_) | Value::Bool(_))).unwrap_or_else(text),
        );
    }
    parsed.filter(allows).or_else(|| types.contains("string").then(text))
}

fn usage(title: String, help: &str) -> CallError {
    CallError::Usage(Complaint::new(title, help))
}

#[cfg(test)]
mod tests {
    use super::{CallError, arguments, split};
    use serde_json::{Value, json};

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "n": {"type": "integer"},
                "x": {"type": "number"},
                "on": {"type": "boolean"},
                "list": {"type": "array"},
                "kind": {"$ref": "#/$defs/Kind"},
                "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
                "maybe": {"type": ["string", "null"]},
            },
            "$defs": {"Kind": {"enum": ["a", "b"]}},
        })
    }

    fn check(pairs: &[&str], expected: Result<Value, &str>) {
        let found = match arguments(&schema(), None, pairs) {
            Ok(members) => Ok(Value::Object(members)),
            Err(CallError::Usage(complaint) | CallError::Failed(complaint)) => {
                Err(format!("{}; {}", complaint.title, complaint.help))
            }
        };
        match (&found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(*found, expected, "{pairs:?}"),
            (Err(found), Err(part)) => assert!(found.contains(part), "{found} for {pairs:?}"),
            (found, expected) => panic!("{found:?} instead of {expected:?} for {pairs:?}"),
        }
    }

    #[test]
    fn values_have_the_types_of_the_schema() {
        check(&["text=5", "n=5", "x=2.5", "on=true"], Ok(json!({"text": "5", "n": 5, "x": 2.5, "on": true})));
        check(&["list=[1,\"b\"]", "kind=a"], Ok(json!({"list": [1, "b"], "kind": "a"})));
        check(&["either=5"], Ok(json!({"either": 5})));
        check(&["either=five", "maybe=null"], Ok(json!({"either": "five", "maybe": "null"})));
        check(&["maybe:=null", "n:=7"], Ok(json!({"maybe": null, "n": 7})));
        check(&["text=a=b", "text2=x"], Err("no argument `text2`; did you mean `text`?"));
        check(&["text=a=b"], Ok(json!({"text": "a=b"})));
        check(&["n=five"], Err("`n` must be integer; write JSON as n:="));
        check(&["n=1.5"], Err("`n` must be integer"));
        check(&["on=yes"], Err("`on` must be boolean"));
        check(&["n:=[1"], Err("`n` is no JSON"));
        check(&["n=1", "n=2"], Err("`n` is given twice"));
    }

    #[test]
    fn without_a_schema_numbers_and_flags_are_recognized() {
        let open = json!({"type": "object"});
        let found = arguments(&open, Some(r#"{"b": 1}"#), &["a=1", "b=x", "c=true", "d={}"]);
        let Ok(found) = found else { panic!("refused") };
        assert_eq!(Value::Object(found), json!({"b": "x", "a": 1, "c": true, "d": "{}"}));
        let strict = json!({"properties": {"a": {}}, "required": ["a"]});
        assert!(matches!(arguments(&strict, None, &[]), Err(CallError::Usage(_))));
        assert!(matches!(arguments(&strict, Some("[]"), &[]), Err(CallError::Usage(_))));
    }

    #[test]
    fn an_address_is_told_from_arguments() {
        let words = ["q=http://h/", "https://tools.example/mcp?a=b"].map(str::to_owned);
        let Ok(split_words) = split(&words) else { panic!("refused") };
        assert_eq!(split_words.pairs, ["q=http://h/"]);
        assert_eq!(split_words.url, Some("https://tools.example/mcp?a=b"));
        assert!(matches!(split(&["loose".to_owned()]), Err(CallError::Usage(_))));
        assert!(matches!(split(&["http://a/", "http://b/"].map(str::to_owned)), Err(CallError::Usage(_))));
    }
}
