//! Small schemas and values that must not take long, or use up the stack.

use failwell_toolbox::{Schema, is_usable_schema};
use serde_json::{Map, Value, json};

fn schema(document: Value) -> Schema {
    Schema::new(document).expect("a schema")
}

fn accepts(schema: &Schema, value: &Value) -> bool {
    schema.check(value).is_ok()
}

#[test]
fn references_that_go_in_circles_end() {
    for document in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}], "type": "object"}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}}),
        json!({"unevaluatedProperties": false, "anyOf": [{"$ref": "#"}, {"properties": {"a": {}}}]}),
    ] {
        assert!(accepts(&schema(document.clone()), &json!({})), "{document}");
    }
    // What contradicts itself accepts nothing.
    assert!(!accepts(&schema(json!({"not": {"$ref": "#"}})), &json!(1)));
}

#[test]
fn a_long_chain_of_references_is_refused_not_followed() {
    let chain = |length: usize| {
        let last = (format!("d{length}"), json!({"type": "string"}));
        let links = (0..length).map(|at| (format!("d{at}"), json!({"$ref": format!("#/$defs/d{}", at + 1)})));
        let all: Map<String, Value> = links.chain([last]).collect();
        json!({"$ref": "#/$defs/d0", "$defs": all})
    };
    assert!(accepts(&schema(chain(100)), &json!("text")));
    assert!(!accepts(&schema(chain(100)), &json!(1)));
    let long = chain(10_000);
    assert!(!accepts(&schema(long.clone()), &json!("text")));
    let inverted = json!({"not": {"$ref": "#/$defs/d0"}, "$defs": long["$defs"]});
    assert!(!accepts(&schema(inverted), &json!(1)), "a chain that was cut short approves nothing");
}

#[test]
fn deep_values_fit_into_the_stack() {
    let tree = schema(
        json!({"type": "object", "properties": {"below": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
        "required": ["below"]}),
    );
    let nested = |depth| (0..depth).fold(Value::Null, |below, _| json!({ "below": below }));
    assert!(accepts(&tree, &nested(100)));
    assert!(!accepts(&tree, &nested(1_000)), "deeper than any message");
}

#[test]
fn a_schema_that_is_nested_too_deeply_is_refused() {
    let nested = |depth| (0..depth).fold(json!({}), |below, _| json!({ "not": below }));
    assert!(is_usable_schema(&nested(100)));
    assert!(!is_usable_schema(&nested(200)));
}

/// Each of these takes 2^60 steps without a memory of what was found.
#[test]
fn nothing_is_examined_twice() {
    let doubled = |keyword: &str| {
        let all: Map<String, Value> = (0..60)
            .map(|at| {
                let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
                (format!("d{at}"), json!({keyword: [next, next]}))
            })
            .chain([("d60".to_owned(), json!({"type": "string"}))])
            .collect();
        json!({"$ref": "#/$defs/d0", "$defs": all})
    };
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let schema = schema(doubled(keyword));
        assert_eq!(accepts(&schema, &json!("text")), keyword != "oneOf", "{keyword}");
        assert!(!accepts(&schema, &json!(1)), "{keyword}");
    }
    let below = json!({"properties": {"a": {"$ref": "#"}}});
    let recursive = schema(json!({"anyOf": [{"required": ["b"], "allOf": [below, below]}, below]}));
    assert!(accepts(&recursive, &(0..60).fold(json!({}), |below, _| json!({ "a": below }))));
    let mut unevaluated = json!({"properties": {"a": {}}});
    for _ in 0..40 {
        unevaluated = json!({"allOf": [unevaluated], "unevaluatedProperties": false});
    }
    let unevaluated = schema(unevaluated);
    assert!(accepts(&unevaluated, &json!({"a": 1})));
    assert!(!accepts(&unevaluated, &json!({"b": 1})));
}

#[test]
fn long_lists_are_compared_quickly() {
    let schema = schema(json!({"uniqueItems": true}));
    let mut items: Vec<Value> = (0..20_000).map(|at| json!({"at": at, "text": "x"})).collect();
    assert!(accepts(&schema, &Value::Array(items.clone())));
    items.push(json!({"text": "x", "at": 19_999.0}));
    assert!(!accepts(&schema, &Value::Array(items)));
}
