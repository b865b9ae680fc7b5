//! The JSON Schema of the file, generated from the table of keys.

use serde_json::{Map, Value, json};

use super::Builtin;
use super::keys::{ConfigKey, ROOT, ValueType, servers};

pub(crate) fn schema() -> Value {
    let mut root = object(ROOT);
    if let Some(members) = root.as_object_mut() {
        members.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        members.insert("title".to_owned(), json!("failwell.toml"));
    }
    root
}

fn object(keys: &[ConfigKey]) -> Value {
    let properties: Map<String, Value> =
        keys.iter().map(|key| (key.name.to_owned(), property(key))).collect();
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn property(key: &ConfigKey) -> Value {
    let mut schema = takes(&key.takes);
    if let Some(members) = schema.as_object_mut() {
        members.insert("description".to_owned(), json!(key.about));
    }
    schema
}

fn takes(takes: &ValueType) -> Value {
    match takes {
        ValueType::Text { example, pattern: Some(pattern) } => {
            json!({"type": "string", "pattern": pattern, "examples": [example]})
        }
        ValueType::Text { example, pattern: None } | ValueType::Address { example } => {
            json!({"type": "string", "minLength": 1, "examples": [example]})
        }
        ValueType::AddressOr { example, keys } => {
            let mut table = object(keys);
            if let Some(members) = table.as_object_mut() {
                members.insert("required".to_owned(), json!(["url"]));
            }
            json!({"anyOf": [{"type": "string", "minLength": 1, "examples": [example]}, table]})
        }
        ValueType::Choice(words) => json!({"enum": words}),
        ValueType::Secret => json!({"type": "string", "minLength": 1}),
        ValueType::Flag { default } => json!({"type": "boolean", "default": default}),
        ValueType::Number(number) if number.default < number.from => {
            json!({"type": "integer", "minimum": number.from, "maximum": number.to})
        }
        ValueType::Number(number) => json!({
            "type": "integer", "minimum": number.from, "maximum": number.to, "default": number.default
        }),
        ValueType::Texts { least } => {
            json!({"type": "array", "items": {"type": "string"}, "minItems": least})
        }
        ValueType::Servers => {
            let usual: Vec<&str> = Builtin::USUAL.iter().map(|server| server.name()).collect();
            json!({"type": "array", "items": {"enum": servers()}, "uniqueItems": true, "default": usual})
        }
        ValueType::Secrets | ValueType::Pairs => {
            json!({"type": "object", "additionalProperties": {"type": "string"}})
        }
        ValueType::Anything => json!({"type": "object"}),
        ValueType::Schemas => json!({"type": "object", "additionalProperties": {"type": "object"}}),
        ValueType::Named(keys) => json!({"type": "object", "additionalProperties": object(keys)}),
        ValueType::Table(keys) => object(keys),
        ValueType::Tables(keys) if keys.iter().any(|key| key.name == "driver") => {
            json!({"type": "array", "items": device(keys)})
        }
        ValueType::Tables(keys) if keys.iter().any(|key| key.name == "url") => {
            json!({"type": "array", "items": upstream(keys)})
        }
        ValueType::Tables(keys) if keys.iter().any(|key| key.name == "wasm") => {
            json!({"type": "array", "items": custom(keys)})
        }
        ValueType::Tables(keys) => json!({"type": "array", "items": object(keys)}),
    }
}

/// An upstream has a name, and either `command` or `url`.
fn upstream(keys: &[ConfigKey]) -> Value {
    let of_url = ["url", "headers", "transport", "ca_file", "auth"];
    one_of(keys, ("command", &of_url), ("url", &["command", "cwd", "env", "env_pass"]))
}

/// A device has a name and a driver. The driver has `command` or `url`, not both.
fn device(keys: &[ConfigKey]) -> Value {
    let mut item = object(keys);
    if let Some(members) = item.as_object_mut() {
        members.insert("required".to_owned(), json!(["name", "driver"]));
        members.insert("not".to_owned(), json!({"required": ["command", "url"]}));
    }
    item
}

/// A guard has a name, and either `wasm` or `command`.
fn custom(keys: &[ConfigKey]) -> Value {
    let of_program = ["command", "cwd", "env", "env_pass", "restart"];
    one_of(keys, ("wasm", &of_program), ("command", &["wasm", "fuel", "instances"]))
}

/// A named table with exactly one of two keys, and without the keys that belong to the other one.
fn one_of(keys: &[ConfigKey], one: (&str, &[&str]), other: (&str, &[&str])) -> Value {
    let alternative = |(name, without): (&str, &[&str])| {
        let present: Vec<Value> = without.iter().map(|name| json!({"required": [name]})).collect();
        json!({"required": [name], "not": {"anyOf": present}})
    };
    let mut item = object(keys);
    if let Some(members) = item.as_object_mut() {
        members.insert("required".to_owned(), json!(["name"]));
        members.insert("oneOf".to_owned(), json!([alternative(one), alternative(other)]));
    }
    item
}
