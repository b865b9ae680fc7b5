//! Which documents are schemas.

use failwell_toolbox::{Schema, is_usable_schema};
use serde_json::{Value, json};

fn draft(number: &str, mut schema: Value) -> Value {
    schema["$schema"] = json!(format!("http://json-schema.org/draft-{number}/schema#"));
    schema
}

/// Both validators agree on these, apart from the last ones.
#[test]
fn documents_are_schemas_or_not() {
    let usable = [
        json!(true),
        json!({}),
        json!({"$schema": "https://json-schema.org/draft/2020-12/schema"}),
        json!({"$schema": "http://json-schema.org/draft-07/schema"}),
        json!({"additionalItems": 5, "x-own": {"type": 5}, "id": 5, "nullable": true}),
        json!({"dependencies": {"a": ["b"], "c": {"type": "string"}}}),
        json!({"enum": []}),
        json!({"enum": [1, 1], "required": [], "minLength": 2.0, "maxLength": 1e30, "default": 5}),
        json!({"$ref": "#"}),
        json!({"$ref": ""}),
        json!({"$ref": "#/x%20y/~1", "x y": {"/": {"type": "string"}}}),
        json!({"$ref": "#here", "$defs": {"a": {"$anchor": "here"}}}),
        json!({"$dynamicRef": "#here", "$dynamicAnchor": "here"}),
        json!({"$id": "http://a.example/one", "$ref": "http://a.example/one#/$defs/a", "$defs": {"a": {}}}),
        json!({"$id": "http://a.example/x/one", "$ref": "two", "$defs": {"a": {"$id": "two"}}}),
        json!({"$id": "http://a.example/x/one", "$ref": "/two", "$defs": {"a": {"$id": "http://a.example/two"}}}),
        json!({"$defs": {"x": {"$id": "http://a.example/c"}, "y": {"$ref": "http://a.example/c"}}}),
        // Nothing reaches these.
        json!({"$defs": {"a": {"$ref": "#/nope"}}}),
        json!({"$defs": {"a": {"pattern": "("}}, "then": {"pattern": "("}}),
        json!({"default": {"$ref": "http://a.example"}, "enum": [{"$ref": "http://a.example"}]}),
        json!({"properties": {"$ref": {"type": "string"}}}),
        json!({"pattern": r"\p{L}+[\w.-]\u0041(?<name>a)\-\cA[[a&&b]"}),
        // What `regex` cannot express others can.
        json!({"pattern": "a(?!b)"}),
        json!({"pattern": r"(a)\1"}),
        json!({"pattern": "[a-z--b]"}),
        draft("07", json!({"items": [{}], "additionalItems": false, "prefixItems": 5})),
        draft("04", json!({"minimum": 3, "exclusiveMinimum": true})),
    ];
    let unusable = [
        json!(5),
        json!(null),
        json!([]),
        json!({"$schema": "https://a.example/dialect"}),
        json!({"$schema": "http://json-schema.org/draft-03/schema#"}),
        json!({"$schema": 5}),
        json!({"items": [{}]}),
        json!({"definitions": {"a": {"type": 5}}}),
        json!({"$defs": {"a": {"type": "text"}}}),
        json!({"dependencies": {"a": 5}}),
        json!({"dependencies": {"a": ["b", "b"]}}),
        json!({"title": 5}),
        json!({"deprecated": 5}),
        json!({"examples": 5}),
        json!({"format": 5}),
        json!({"$id": "#here"}),
        json!({"$anchor": "1a"}),
        json!({"$ref": 5}),
        json!({"$ref": "other.json"}),
        json!({"$ref": "http://json-schema.org/draft-07/schema#"}),
        json!({"$defs": {"a": {"$ref": "http://a.example"}}}),
        json!({"$ref": "#/nope"}),
        json!({"$ref": "#nope"}),
        json!({"$ref": "#/x", "x": 5}),
        json!({"$ref": "#/x", "x": {"minLength": "a"}}),
        json!({"enum": 5}),
        json!({"required": [5]}),
        json!({"required": ["a", "a"]}),
        json!({"type": []}),
        json!({"type": ["string", "string"]}),
        json!({"type": "any"}),
        json!({"minimum": "5"}),
        json!({"exclusiveMinimum": true}),
        json!({"multipleOf": 0}),
        json!({"minLength": -1}),
        json!({"minLength": 1.5}),
        json!({"anyOf": []}),
        json!({"allOf": [5]}),
        json!({"not": 5}),
        json!({"then": 5}),
        json!({"uniqueItems": 5}),
        json!({"properties": {"a": null}}),
        json!({"patternProperties": {"(": {}}}),
        json!({"additionalProperties": 5}),
        json!({"dependentRequired": {"a": 5}}),
        json!({"pattern": "("}),
        json!({"pattern": r"\Z"}),
        json!({"pattern": "(?<!a)b("}),
        draft("07", json!({"type": 5})),
    ];
    for (schemas, expected) in [(&usable[..], true), (&unusable[..], false)] {
        for schema in schemas {
            assert_eq!(is_usable_schema(schema), expected, "{schema}");
            assert_eq!(jsonschema::options().build(schema).is_ok(), expected, "{schema} there");
        }
    }
}

/// A schema of ours must check what it says. Look-ahead at the start is translated; the rest is refused.
#[test]
fn patterns_that_cannot_be_checked_are_refused() {
    for (pattern, is_checked) in [
        (r"^(?!.*\.\.)[a-z./]+$", true),
        (r"^(?=.*\d)(?=.*[a-z)]).{3,}$", true),
        ("a(?!b)", false),
        ("(?<=a)b", false),
        ("^(?!a)b|c", false),
        ("^(?!a(?=b))c", false),
        (r"(a)\1", false),
        ("[+--]", false),
    ] {
        assert_eq!(Schema::new(json!({"pattern": pattern})).is_ok(), is_checked, "{pattern}");
    }
}
