//! The JSON type of every keyword, as the meta-schemas of the drafts demand it.

use std::collections::HashSet;

use serde_json::Value;

use crate::schema::draft::Draft;
use crate::schema::json_type::JsonType;

/// The kind of value below a keyword.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Schema,
    SchemaList,
    SchemaMap,
    /// A schema, or a list of them before 2020-12.
    Items,
    /// Schemas or lists of names, by name.
    Dependencies,
    Text,
    /// A text that is also the target of references.
    Anchor,
    Id,
    Flag,
    List,
    Object,
    Number,
    /// A number, or a flag in draft 4.
    ExclusiveBound,
    Divisor,
    Count,
    Names,
    NamesByName,
    Types,
}

fn shape(keyword: &str) -> Option<Shape> {
    Some(match keyword {
        "additionalItems"
        | "additionalProperties"
        | "contains"
        | "contentSchema"
        | "else"
        | "if"
        | "not"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Shape::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Shape::SchemaList,
        "$defs" | "definitions" | "dependentSchemas" | "patternProperties" | "properties" => Shape::SchemaMap,
        "items" => Shape::Items,
        "dependencies" => Shape::Dependencies,
        "$comment" | "$dynamicRef" | "$recursiveRef" | "$ref" | "$schema" | "contentEncoding"
        | "contentMediaType" | "description" | "format" | "pattern" | "title" => Shape::Text,
        "$anchor" | "$dynamicAnchor" => Shape::Anchor,
        "$id" => Shape::Id,
        "deprecated" | "readOnly" | "uniqueItems" | "writeOnly" => Shape::Flag,
        "enum" | "examples" => Shape::List,
        "$vocabulary" => Shape::Object,
        "maximum" | "minimum" => Shape::Number,
        "exclusiveMaximum" | "exclusiveMinimum" => Shape::ExclusiveBound,
        "multipleOf" => Shape::Divisor,
        "maxContains" | "maxItems" | "maxLength" | "maxProperties" | "minContains" | "minItems"
        | "minLength" | "minProperties" => Shape::Count,
        "required" => Shape::Names,
        "dependentRequired" => Shape::NamesByName,
        "type" => Shape::Types,
        _ => return None,
    })
}

/// Whether the value of a keyword has the right shape. Schemas in it are examined on their own.
pub(super) fn fits(keyword: &str, value: &Value, draft: Draft) -> bool {
    let Some(shape) = shape(keyword).filter(|_| draft.has(keyword)) else { return true };
    let all = |each: fn(&Value) -> bool| value.as_object().is_some_and(|all| all.values().all(each));
    match shape {
        Shape::Schema => is_schema(value),
        Shape::SchemaList => is_schema_list(value),
        Shape::SchemaMap => all(is_schema),
        Shape::Items => is_schema(value) || (draft.has_tuple_items() && value.is_array()),
        Shape::Dependencies => all(|one| is_schema(one) || are_names(one)),
        Shape::Text => value.is_string(),
        Shape::Anchor => value.as_str().is_some_and(is_anchor),
        Shape::Id => value.as_str().is_some_and(|id| draft <= Draft::Draft7 || is_id(id)),
        Shape::Flag => value.is_boolean(),
        Shape::List => value.is_array(),
        Shape::Object => value.is_object(),
        Shape::Number => value.is_number(),
        Shape::ExclusiveBound if draft.has_exclusive_flags() => value.is_boolean(),
        Shape::ExclusiveBound => value.is_number(),
        Shape::Divisor => value.as_f64().is_some_and(|divisor| divisor > 0.0),
        Shape::Count => count(value).is_some(),
        Shape::Names => are_names(value),
        Shape::NamesByName => all(are_names),
        Shape::Types => JsonType::parse_list(value).is_some(),
    }
}

/// The schemas below a keyword whose shape is right.
pub(super) fn subschemas<'d>(keyword: &str, value: &'d Value, draft: Draft) -> Vec<&'d Value> {
    match shape(keyword).filter(|_| draft.has(keyword)) {
        Some(Shape::Schema | Shape::SchemaList | Shape::Items) => match value {
            Value::Array(list) => list.iter().collect(),
            one => vec![one],
        },
        Some(Shape::SchemaMap | Shape::Dependencies) => {
            value.as_object().into_iter().flat_map(|all| all.values()).filter(|one| is_schema(one)).collect()
        }
        _ => Vec::new(),
    }
}

/// A count. Beyond 64 bits it bounds nothing that fits into memory.
pub(super) fn count(value: &Value) -> Option<u64> {
    let whole = |number: &f64| *number >= 0.0 && number.fract() == 0.0;
    value.as_u64().or_else(|| value.as_f64().filter(whole).map(|number| number as u64))
}

pub(super) fn is_schema(value: &Value) -> bool {
    value.is_object() || value.is_boolean()
}

fn is_schema_list(value: &Value) -> bool {
    value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(is_schema))
}

fn are_names(value: &Value) -> bool {
    let mut seen = HashSet::new();
    value.as_array().is_some_and(|all| all.iter().all(|name| name.as_str().is_some_and(|n| seen.insert(n))))
}

fn is_anchor(name: &str) -> bool {
    let mut all = name.chars();
    all.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && all.all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_'))
}

/// Since 2019-09 an identifier has no fragment, or an empty one.
fn is_id(id: &str) -> bool {
    !id.strip_suffix('#').unwrap_or(id).contains('#')
}
