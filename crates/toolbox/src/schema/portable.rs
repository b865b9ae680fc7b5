//! Schemas in a form that every client accepts. A boolean is a schema too, but clients that want an object there refuse the whole
//! list it is in (TypeScript SDK 1.x), and validators write a warning for every format they do not know.

use std::borrow::Cow;

use failwell_fault::{Fault, OrFault, reason};
use failwell_rpc::{Json, Object, Raw};
use serde_json::Value;

/// The formats of JSON Schema 2020-12. Others, such as `uint64`, mean nothing outside the library that wrote them.
const FORMATS: [&str; 19] = [
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uri-template",
    "uuid",
    "json-pointer",
    "relative-json-pointer",
    "regex",
];

/// A schema that means the same and that every client takes: `true` is `{}`, `false` is `{"not":{}}`, and formats that
/// JSON Schema does not have are gone. `None` when there is nothing to change.
pub fn portable_schema(schema: Raw<'_>) -> Option<Json> {
    // Most schemas need no change, and this is cheaper than looking at every member.
    let may_change = ["true", "false", "\"format\""].iter().any(|word| schema.text().contains(word));
    may_change.then(|| rewrite(schema))?
}

/// The same for a schema of our own.
pub(crate) fn portable_value(schema: Value) -> Result<Value, Fault> {
    match portable_schema(Json::from(&schema).raw()) {
        Some(portable) => portable.raw().parse().or_fault(&reason::SERVER_BUG),
        None => Ok(schema),
    }
}

/// The kind of value below a keyword.
enum SubschemaKind {
    Schema,
    /// A schema, or a boolean, which clients take here.
    SchemaOrFlag,
    /// Schemas by name.
    Named,
    Listed,
    Format,
    /// No schema: a value, a number, a text.
    Data,
}

fn below(keyword: &str, value: Raw<'_>) -> SubschemaKind {
    match keyword {
        // Before 2020-12 this could be a list.
        "items" if value.as_array().is_some() => SubschemaKind::Listed,
        "items" | "contains" | "propertyNames" | "not" | "if" | "then" | "else" | "contentSchema" => {
            SubschemaKind::Schema
        }
        "additionalProperties" | "additionalItems" | "unevaluatedProperties" | "unevaluatedItems" => {
            SubschemaKind::SchemaOrFlag
        }
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
        | "dependencies" => SubschemaKind::Named,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => SubschemaKind::Listed,
        "format" => SubschemaKind::Format,
        _ => SubschemaKind::Data,
    }
}

/// How one member of an object changes.
#[derive(Debug, Clone)]
pub enum MemberChange {
    /// It stays as it is written.
    None,
    /// It is removed.
    Gone,
    /// It has this value.
    To(Json),
}

impl MemberChange {
    /// To this value, if there is one.
    pub fn of(changed: Option<Json>) -> MemberChange {
        changed.map_or(MemberChange::None, MemberChange::To)
    }
}

/// Recurses no deeper than the text is nested, which the scan bounds.
fn rewrite(schema: Raw<'_>) -> Option<Json> {
    match schema.as_bool() {
        Some(true) => Some(Json::empty_object()),
        Some(false) => Some(Json::object([("not", Raw::written("{}"))].into_iter())),
        None => rewrite_members(schema.as_object()?, |keyword, value| match below(keyword, value) {
            SubschemaKind::Schema => MemberChange::of(rewrite(value)),
            SubschemaKind::SchemaOrFlag if value.as_bool().is_some() => MemberChange::None,
            SubschemaKind::SchemaOrFlag => MemberChange::of(rewrite(value)),
            SubschemaKind::Named => MemberChange::of(
                value
                    .as_object()
                    .and_then(|all| rewrite_members(all, |_, one| MemberChange::of(rewrite(one)))),
            ),
            SubschemaKind::Listed => MemberChange::of(rewrite_elements(value)),
            SubschemaKind::Format if is_unknown_format(value) => MemberChange::Gone,
            SubschemaKind::Format | SubschemaKind::Data => MemberChange::None,
        }),
    }
}

fn is_unknown_format(format: Raw<'_>) -> bool {
    format.as_str().is_some_and(|name| !FORMATS.contains(&name.as_ref()))
}

/// The object after these changes; `None` when there are none. Unchanged members stay byte for byte.
fn rewrite_members(object: Object<'_>, change: impl Fn(&str, Raw<'_>) -> MemberChange) -> Option<Json> {
    let members: Vec<(Cow<'_, str>, Raw<'_>, MemberChange)> = object
        .iter()
        .map(|(name, value)| {
            let change = change(&name, value);
            (name, value, change)
        })
        .collect();
    if members.iter().all(|(.., change)| matches!(change, MemberChange::None)) {
        return None;
    }
    let kept = members.iter().filter_map(|(name, value, change)| match change {
        MemberChange::None => Some((name.as_ref(), *value)),
        MemberChange::To(changed) => Some((name.as_ref(), changed.raw())),
        MemberChange::Gone => None,
    });
    Some(Json::object(kept))
}

fn rewrite_elements(list: Raw<'_>) -> Option<Json> {
    let elements: Vec<(Raw<'_>, Option<Json>)> =
        list.as_array()?.map(|element| (element, rewrite(element))).collect();
    if elements.iter().all(|(_, changed)| changed.is_none()) {
        return None;
    }
    let kept: Vec<Raw<'_>> =
        elements.iter().map(|(element, changed)| changed.as_ref().map_or(*element, Json::raw)).collect();
    Json::of(&kept).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_clients_refuse_is_changed() {
        for (given, expected) in [
            // A boolean where clients want an object.
            ("true", Some("{}")),
            ("false", Some(r#"{"not":{}}"#)),
            (r#"{"properties":{"answer":true}}"#, Some(r#"{"properties":{"answer":{}}}"#)),
            (r#"{"properties":{"a":{"items":true}}}"#, Some(r#"{"properties":{"a":{"items":{}}}}"#)),
            (
                r#"{"prefixItems":[{}, true],"items":false}"#,
                Some(r#"{"prefixItems":[{},{}],"items":{"not":{}}}"#),
            ),
            (r#"{"items":[true,{"a":1}]}"#, Some(r#"{"items":[{},{"a":1}]}"#)),
            (r#"{"anyOf":[false,{}],"not":true}"#, Some(r#"{"anyOf":[{"not":{}},{}],"not":{}}"#)),
            (r#"{"$defs":{"any":true},"x":1.0}"#, Some(r#"{"$defs":{"any":{}},"x":1.0}"#)),
            (
                r#"{"additionalProperties":{"properties":{"b":true}}}"#,
                Some(r#"{"additionalProperties":{"properties":{"b":{}}}}"#),
            ),
            // A custom format.
            (
                r#"{"type":"integer","format":"uint64","minimum":0}"#,
                Some(r#"{"type":"integer","minimum":0}"#),
            ),
            (r#"{"properties":{"n":{"format":"double"}}}"#, Some(r#"{"properties":{"n":{}}}"#)),
            // Accepted by clients.
            (r#"{"additionalProperties":false,"unevaluatedItems":true}"#, None),
            (r#"{"type":"string","format":"date-time"}"#, None),
            // Not a schema.
            (
                r#"{"default":true,"const":{"format":"uint8"},"enum":[false],"examples":[{"items":true}]}"#,
                None,
            ),
            (r#"{"uniqueItems":true,"x-own":{"properties":{"a":true}}}"#, None),
            (
                r#"{"properties":{"format":{"const":"uint8"},"items":{"type":"boolean","default":false}}}"#,
                None,
            ),
            (r#"{"dependencies":{"a":["b"]},"required":["true"]}"#, None),
            (r#"{"format":7,"properties":[true],"anyOf":true}"#, None),
        ] {
            let portable = portable_schema(Raw::written(given));
            assert_eq!(portable.as_ref().map(Json::text), expected, "{given}");
        }
    }

    #[test]
    fn digits_and_order_stay() {
        let given = r#"{"z":1.00,"properties":{"b":true,"a":{"maximum":18446744073709551615000}}}"#;
        let expected = r#"{"z":1.00,"properties":{"b":{},"a":{"maximum":18446744073709551615000}}}"#;
        assert_eq!(portable_schema(Raw::written(given)).as_ref().map(Json::text), Some(expected));
    }
}
