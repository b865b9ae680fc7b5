//! Each keyword: what it accepts, and how it says that it does not.

use failwell_toolbox::Schema;
use serde_json::{Value, json};

use crate::oracle::{Oracle, lines};

fn check(schema: Value, cases: &[(Value, &[&str])]) {
    let ours = Schema::new(schema.clone()).expect("a schema");
    let oracle = Oracle::new(&schema).expect("a schema there");
    for (value, expected) in cases {
        assert_eq!(lines(&ours.violations_in(&value.to_string())), *expected, "{value} against {schema}");
        assert_eq!(lines(&oracle.violations(value)), *expected, "{value} against {schema}, there");
    }
}

#[test]
fn any_value() {
    check(json!(true), &[(json!(1), &[])]);
    check(json!(false), &[(json!(1), &[" Schema: must fit the schema"])]);
    check(
        json!({"type": "integer"}),
        &[
            (json!(1), &[]),
            (json!(1.0), &[]),
            (json!(1e30), &[]),
            (json!(1.5), &[" Type: must be of type integer"]),
            (json!("1"), &[" Type: must be of type integer"]),
        ],
    );
    check(json!({"type": ["string"]}), &[(json!(1), &[" Type: must be of type string"])]);
    check(
        json!({"type": ["object", "null", "number"]}),
        &[
            (json!(1), &[]),
            (json!(null), &[]),
            (json!("a"), &[" Type: must be of type null, number, object"]),
        ],
    );
    check(json!({"const": 1}), &[(json!(1.0), &[]), (json!(true), &[" Constant: must be 1"])]);
    check(
        json!({"const": {"a": [1, {"b": 2}], "c": null}}),
        &[(json!({"c": null, "a": [1.0, {"b": 2}]}), &[]), (json!({"a": [1]}), &[" Constant: must be"])],
    );
    check(
        json!({"enum": ["on", "off", 0]}),
        &[(json!("on"), &[]), (json!(0.0), &[]), (json!("no"), &[" Choice: must be one of on, off"])],
    );
}

#[test]
fn numbers() {
    check(
        json!({"minimum": 2, "maximum": 3.5}),
        &[
            (json!(2), &[]),
            (json!(3.5), &[]),
            (json!("1"), &[]),
            (json!(1), &[" Minimum: must be at least 2"]),
            (json!(4), &[" Maximum: must be at most 3.5"]),
        ],
    );
    check(
        json!({"exclusiveMinimum": 2, "exclusiveMaximum": 3}),
        &[
            (json!(2.5), &[]),
            (json!(2), &[" Minimum: must be at least 2"]),
            (json!(3.0), &[" Maximum: must be at most 3"]),
        ],
    );
    // Neighbours that are the same float.
    check(
        json!({"maximum": u64::MAX - 1}),
        &[(json!(u64::MAX), &[" Maximum: must be at most 18446744073709551614"])],
    );
    check(
        json!({"minimum": 9_007_199_254_740_993_u64}),
        &[(json!(9_007_199_254_740_992.0), &[" Minimum: must be at least 9007199254740993"])],
    );
    check(
        json!({"const": 9_007_199_254_740_993_u64}),
        &[(json!(9_007_199_254_740_992_u64), &[" Constant: must be 9007199254740993"])],
    );
    check(
        json!({"multipleOf": 0.1}),
        &[
            (json!(0.3), &[]),
            (json!(1070468.1), &[]),
            (json!(0.35), &[" MultipleOf: must be a multiple of 0.1"]),
        ],
    );
    check(
        json!({"multipleOf": 3}),
        &[
            (json!(9), &[]),
            (json!(-9.0), &[]),
            (json!(0), &[]),
            (json!(u64::MAX), &[]),
            (json!(1.5), &[" MultipleOf: must be a multiple of 3"]),
        ],
    );
}

#[test]
fn strings() {
    check(
        json!({"minLength": 2, "maxLength": 3}),
        &[
            (json!("äß"), &[]),
            (json!("🦀🦀🦀"), &[]),
            (json!("é"), &[" MinLength: must have at least this many characters: 2"]),
            (json!("abcd"), &[" MaxLength: must have at most this many characters: 3"]),
        ],
    );
    let wrong: &[&str] = &[" Pattern: must match the pattern of the schema"];
    check(json!({"pattern": r"^\d+$"}), &[(json!("12"), &[]), (json!("٣"), wrong), (json!("1\n"), wrong)]);
    check(json!({"pattern": r"^[\w.-]+\s\S$"}), &[(json!("a-b.c\u{feff}x"), &[]), (json!("ä x"), wrong)]);
    check(json!({"pattern": r"^[^\D5]$"}), &[(json!("4"), &[]), (json!("5"), wrong), (json!("a"), wrong)]);
    check(json!({"pattern": r"^[[&~]+$"}), &[(json!("[&~"), &[]), (json!("a"), wrong)]);
    check(json!({"pattern": r"^\p{Lu}\cA$"}), &[(json!("Ä\u{1}"), &[]), (json!("ä\u{1}"), wrong)]);
    check(json!({"pattern": r"^(?!.*\.\.)[a-z./]+$"}), &[(json!("/a/b"), &[]), (json!("/a/../b"), wrong)]);
    check(json!({"pattern": r"^(?=.*\d)(?=.*[a-z)]).{3,}$"}), &[(json!("ab1"), &[]), (json!("abc"), wrong)]);
    check(json!({"format": "date-time"}), &[(json!("yesterday"), &[])]);
}

#[test]
fn objects() {
    check(
        json!({"required": ["a", "b"]}),
        &[(json!({"b": 1}), &["/a Required: field required"]), (json!([]), &[])],
    );
    check(
        json!({"properties": {"a": {"type": "string"}, "x/y~": false}}),
        &[
            (json!({"a": "", "b": 1}), &[]),
            (
                json!({"x/y~": 1, "a": 1}),
                &["/x~1y~0 Schema: must fit the schema", "/a Type: must be of type string"],
            ),
        ],
    );
    check(
        json!({"properties": {"name": {"type": "string"}}, "patternProperties": {"^x-": {"type": "integer"}}, "additionalProperties": false}),
        &[
            (json!({"name": "", "x-a": 1}), &[]),
            (
                json!({"nmae": "", "x-a": "", "other": 1}),
                &[
                    "/x-a Type: must be of type integer",
                    "/nmae Unknown: unknown field (did you mean `name`?)",
                    "/other Unknown: unknown field",
                ],
            ),
        ],
    );
    check(
        json!({"properties": {"a": {}}, "required": ["a"], "additionalProperties": false}),
        &[(json!({"c": 1}), &["/c Unknown: unknown field", "/a Required: field required"])],
    );
    check(
        json!({"additionalProperties": {"type": "string"}}),
        &[(json!({"a": 1}), &["/a Type: must be of type string"])],
    );
    check(
        json!({"additionalProperties": false}),
        &[(json!({}), &[]), (json!({"a": 1, "b": 1}), &[" Schema: must fit the schema"])],
    );
    check(
        json!({"propertyNames": {"maxLength": 1}, "minProperties": 1, "maxProperties": 2}),
        &[
            (json!({"a": 1}), &[]),
            (json!({}), &[" Schema: must fit the schema"]),
            (json!({"ab": 1}), &[" Schema: must fit the schema"]),
        ],
    );
    check(
        json!({"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"maxProperties": 1}}}),
        &[
            (json!({"b": 1}), &[]),
            (json!({"a": 1}), &["/b Required: field required"]),
            (json!({"c": 1, "d": 1}), &[" Schema: must fit the schema"]),
        ],
    );
    check(
        json!({"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}),
        &[(json!({"a": 1, "c": 1}), &["/b Required: field required", "/d Required: field required"])],
    );
}

#[test]
fn arrays() {
    check(
        json!({"items": {"type": "string"}, "minItems": 1, "maxItems": 2}),
        &[
            (json!(["a"]), &[]),
            (json!([]), &[" MinItems: must have at least this many items: 1"]),
            (
                json!([1, "a", 2]),
                &[
                    " MaxItems: must have at most this many items: 2",
                    "/0 Type: must be of type string",
                    "/2 Type: must be of type string",
                ],
            ),
        ],
    );
    check(
        json!({"prefixItems": [{"type": "string"}], "items": false}),
        &[
            (json!(["a"]), &[]),
            (json!([1, 2]), &["/1 Schema: must fit the schema", "/0 Type: must be of type string"]),
        ],
    );
    check(
        json!({"contains": {"const": 1}, "minContains": 2, "maxContains": 3}),
        &[
            (json!([1, 1, 0]), &[]),
            (json!([1]), &[" Schema: must fit the schema"]),
            (json!([1, 1, 1, 1]), &[" Schema: must fit the schema"]),
        ],
    );
    check(json!({"contains": {"const": 1}, "minContains": 0}), &[(json!([]), &[])]);
    check(
        json!({"uniqueItems": true}),
        &[
            (json!([1, true, "1", null, [1], {"a": 1}]), &[]),
            (json!([1, 1.0]), &[" UniqueItems: must not repeat an item"]),
            (json!([{"a": 1, "b": 2}, 0, {"b": 2.0, "a": 1}]), &[" UniqueItems: must not repeat an item"]),
        ],
    );
}

#[test]
fn combinations() {
    let wrong: &[&str] = &[" Combination: must fit exactly the alternatives of the schema"];
    let schema: &[&str] = &[" Schema: must fit the schema"];
    check(json!({"anyOf": [{"type": "string"}, {"minimum": 2}]}), &[(json!("a"), &[]), (json!(1), wrong)]);
    check(
        json!({"oneOf": [{"multipleOf": 2}, {"multipleOf": 3}]}),
        &[(json!(2), &[]), (json!(6), wrong), (json!(5), wrong)],
    );
    check(
        json!({"allOf": [{"minimum": 2}, {"multipleOf": 2}]}),
        &[(json!(1), &[" Minimum: must be at least 2", " MultipleOf: must be a multiple of 2"])],
    );
    check(json!({"not": {"type": "string"}}), &[(json!(1), &[]), (json!("a"), schema)]);
    check(
        json!({"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"minimum": 1}}),
        &[
            (json!("a"), &[]),
            (json!(""), &[" MinLength: must have at least this many characters: 1"]),
            (json!(0), &[" Minimum: must be at least 1"]),
        ],
    );
    check(
        json!({"type": "string", "$ref": "#/$defs/short", "$defs": {"short": {"maxLength": 1}}}),
        &[(json!("ab"), &[" MaxLength: must have at most this many characters: 1"])],
    );
}

#[test]
fn unevaluated() {
    check(
        json!({"$ref": "#/$defs/base", "properties": {"own": {}}, "unevaluatedProperties": false,
            "$defs": {"base": {"properties": {"base": {}}, "patternProperties": {"^x": {}}}}}),
        &[
            (json!({"own": 1, "base": 1, "xy": 1}), &[]),
            (json!({"ownn": 1}), &["/ownn Unknown: unknown field (did you mean `own`?)"]),
        ],
    );
    check(
        json!({"oneOf": [{"properties": {"a": {"const": 1}}, "required": ["a"]}, {"properties": {"b": {}}, "required": ["b"]}],
            "unevaluatedProperties": {"type": "string"}}),
        &[(json!({"a": 1, "c": ""}), &[]), (json!({"b": 1, "a": 2}), &["/a Unknown: unknown field"])],
    );
    check(
        json!({"if": {"properties": {"a": {"const": 1}}}, "then": {"properties": {"b": {}}}, "unevaluatedProperties": false}),
        &[(json!({"a": 1, "b": 1}), &[]), (json!({"a": 2}), &["/a Unknown: unknown field"])],
    );
    check(
        json!({"prefixItems": [{}], "contains": {"type": "string"}, "unevaluatedItems": {"type": "null"}}),
        &[(json!([1, "a", null]), &[]), (json!(["a", 1]), &[" Schema: must fit the schema"])],
    );
}

#[test]
fn older_drafts() {
    let old = |number: &str, mut schema: Value| {
        schema["$schema"] = json!(format!("http://json-schema.org/draft-{number}/schema#"));
        schema
    };
    check(
        old(
            "07",
            json!({"$ref": "#/definitions/text", "minLength": 5, "definitions": {"text": {"type": "string"}}}),
        ),
        &[(json!("a"), &[])],
    );
    check(
        old(
            "07",
            json!({"items": [{"type": "string"}], "additionalItems": {"type": "null"}, "unevaluatedItems": false}),
        ),
        &[(json!(["a", null]), &[]), (json!(["a", 1]), &["/1 Type: must be of type null"])],
    );
    check(
        old("04", json!({"minimum": 1, "exclusiveMinimum": true, "const": 5})),
        &[(json!(2), &[]), (json!(1), &[" Minimum: must be at least 1"])],
    );
}
