//! Schemas as people and generators write them: the violations are the same, in the same order.

use serde_json::json;

use crate::oracle::agree_on_mutations;

#[test]
fn violations_come_in_the_same_order() {
    for schema in [
        // A closed object, with one required member and with several.
        json!({"type": "object", "additionalProperties": false, "required": ["path"], "properties": {
            "path": {"type": "string", "pattern": "^/", "minLength": 2, "maxLength": 9},
            "mode": {"type": "string", "enum": ["read", "write"]},
            "limit": {"type": "integer", "minimum": 1, "maximum": 500}}}),
        json!({"type": "object", "additionalProperties": false, "required": ["a", "b", "c"], "properties": {
            "a": {"type": ["string", "null"]}, "b": {"const": "on"}, "c": {"type": "number", "multipleOf": 0.5}}}),
        // An open object.
        json!({"type": "object", "required": ["from", "to"], "minProperties": 1, "maxProperties": 4, "properties": {
            "from": {"type": "string"}, "to": {"exclusiveMinimum": 0, "exclusiveMaximum": 10}}}),
        json!({"type": "object", "properties": {"a": {"type": "integer"}}, "patternProperties": {"^x-": {"type": "string"}}}),
        json!({"type": "object", "patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": {"type": "integer"}}),
        json!({"type": "object", "additionalProperties": false}),
        // Optional values and tagged unions, as schemars writes them.
        json!({"type": "object", "required": ["step"], "additionalProperties": false,
            "properties": {
                "step": {"$ref": "#/$defs/Step"},
                "next": {"anyOf": [{"$ref": "#/$defs/Step"}, {"type": "null"}]},
                "all": {"type": "array", "items": {"$ref": "#/$defs/Step"}, "minItems": 1, "maxItems": 2, "uniqueItems": true}},
            "$defs": {"Step": {"oneOf": [
                {"type": "object", "properties": {"kind": {"const": "tap"}, "x": {"type": "integer"}}, "required": ["kind", "x"]},
                {"type": "object", "properties": {"kind": {"const": "wait"}}, "required": ["kind"], "additionalProperties": false}]}}}),
        // A recursive one.
        json!({"$ref": "#/$defs/Tree", "$defs": {"Tree": {"type": "object", "required": ["name"], "additionalProperties": false,
            "properties": {"name": {"type": "string"}, "below": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}}}}),
        // Conditions between members.
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "dependentRequired": {"a": ["b"]}, "not": {"required": ["c"]},
            "if": {"required": ["b"]}, "then": {"properties": {"b": {"minLength": 3}}}, "else": {"maxProperties": 1}}),
        json!({"type": "object", "propertyNames": {"pattern": "^[a-z]+$", "maxLength": 3}, "properties": {"abc": {"type": "null"}}}),
        json!({"type": "object", "allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "integer"}}, "required": ["b"]}],
            "unevaluatedProperties": false}),
        json!({"type": "object", "properties": {"list": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}],
            "items": false, "contains": {"const": 1}}}}),
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {
            "a": {"$ref": "#/definitions/a", "type": "null"}, "b": {"items": [{"type": "string"}, {"type": "integer"}]}},
            "definitions": {"a": {"type": "string", "format": "date"}}, "dependencies": {"a": ["b"]}}),
        json!({"$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "properties": {
            "n": {"type": "number", "minimum": 1, "exclusiveMinimum": true}}}),
        json!({"properties": {"many": {"type": "array", "items": {"type": "string"}}}}),
    ] {
        agree_on_mutations("written", &schema);
    }
}

#[test]
fn a_text_that_cannot_be_read_fits_no_schema() {
    let schema = failwell_toolbox::Schema::new(json!({"properties": {"amount": {"maximum": 1000}}}))
        .expect("a schema");
    let deep =
        |levels: usize| format!(r#"{{"amount":5000,"x":{}{}}}"#, "[".repeat(levels), "]".repeat(levels));
    for text in [deep(126), deep(128), "not json".to_owned(), String::new()] {
        assert_eq!(schema.violations_in(&text).len(), 1, "{text}");
    }
    assert!(schema.violations_in(r#"{"amount":5}"#).is_empty());
}

#[test]
fn more_than_a_hundred_violations_are_not_listed() {
    let schema = failwell_toolbox::Schema::new(json!({"items": {"type": "string"}})).expect("a schema");
    let numbers: Vec<u64> = (0..250).collect();
    assert_eq!(schema.violations_in(&json!(numbers).to_string()).len(), 100);
}
