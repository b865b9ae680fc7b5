//! Random schemas, and random values that nearly fit them.

use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::{collection, sample};
use serde_json::{Map, Value, json};

/// A small world, so that schemas and values meet often.
const NAMES: [&str; 5] = ["a", "b", "ab", "c", "x~/y"];
const TEXTS: [&str; 7] = ["", "a", "ab", "abc", "ä", "7", "a b"];
const PATTERNS: [&str; 10] =
    ["^a", "b$", "^[a-b]+$", r"\d", r"^\w*$", r"\s", "^(a|b)$", ".", "^(?!a)", r"^(?=.*b)\S+$"];
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

fn name() -> impl Strategy<Value = String> {
    sample::select(&NAMES[..]).prop_map(str::to_owned)
}

fn names() -> impl Strategy<Value = Value> {
    sample::subsequence(&NAMES[..], 0..4).prop_map(|names| json!(names))
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => (-3..6_i64).prop_map(|n| json!(n)),
        2 => (-6..12_i64).prop_map(|n| json!(n as f64 / 2.0)),
        1 => sample::select(vec![json!(0.1), json!(0.3), json!(1e20), json!(u64::MAX), json!(i64::MIN), json!(-0.0)]),
    ]
}

fn count() -> impl Strategy<Value = Value> {
    prop_oneof![(0..4_u64).prop_map(|n| json!(n)), Just(json!(1.0))]
}

pub(crate) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number(),
        sample::select(&TEXTS[..]).prop_map(|text| json!(text)),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            collection::vec((name(), inner), 0..4).prop_map(|all| Value::Object(all.into_iter().collect())),
        ]
    })
}

fn assertion() -> impl Strategy<Value = (&'static str, Value)> {
    let types = prop_oneof![
        sample::select(&TYPES[..]).prop_map(|one| json!(one)),
        sample::subsequence(&TYPES[..], 1..4).prop_map(|some| json!(some)),
    ];
    let bound = sample::select(vec!["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]);
    let size = sample::select(vec![
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "minContains",
        "maxContains",
    ]);
    let divisor = sample::select(vec![json!(1), json!(2), json!(0.5), json!(0.1), json!(0.25)]);
    prop_oneof![
        6 => (Just("type"), types),
        1 => (Just("const"), value()),
        2 => (Just("enum"), collection::vec(value(), 0..4).prop_map(Value::Array)),
        3 => (bound, number()),
        1 => (Just("multipleOf"), divisor),
        3 => (size, count()),
        2 => (Just("pattern"), sample::select(&PATTERNS[..]).prop_map(|pattern| json!(pattern))),
        1 => (Just("uniqueItems"), any::<bool>().prop_map(Value::Bool)),
        3 => (Just("required"), names()),
        1 => (Just("dependentRequired"), (name(), names()).prop_map(|(name, names)| json!({ name: names }))),
        1 => (Just("dependencies"), (name(), names()).prop_map(|(name, names)| json!({ name: names }))),
        1 => (Just("format"), Just(json!("date-time"))),
        2 => (Just("$ref"), sample::select(vec![json!("#/$defs/one"), json!("#two")])),
    ]
}

fn applicator<S>(inner: S) -> impl Strategy<Value = (&'static str, Value)>
where
    S: Strategy<Value = Value> + Clone + 'static,
{
    let one = sample::select(vec![
        "items",
        "contains",
        "propertyNames",
        "not",
        "if",
        "then",
        "else",
        "additionalProperties",
        "unevaluatedProperties",
        "unevaluatedItems",
    ]);
    let list = sample::select(vec!["allOf", "anyOf", "oneOf", "prefixItems"]);
    let map = sample::select(vec!["properties", "properties", "dependentSchemas", "dependencies"]);
    let pattern = sample::select(&PATTERNS[..]).prop_map(str::to_owned);
    let object = |all: Vec<(String, Value)>| Value::Object(all.into_iter().collect());
    prop_oneof![
        5 => (one, prop_oneof![3 => inner.clone(), 1 => any::<bool>().prop_map(Value::Bool)]),
        3 => (list, collection::vec(inner.clone(), 1..4).prop_map(Value::Array)),
        4 => (map, collection::vec((name(), inner.clone()), 0..4).prop_map(object)),
        1 => (Just("patternProperties"), collection::vec((pattern, inner), 0..3).prop_map(object)),
    ]
}

fn subschema() -> impl Strategy<Value = Value> + Clone {
    let leaf = prop_oneof![
        1 => any::<bool>().prop_map(Value::Bool),
        6 => collection::vec(assertion(), 0..3).prop_map(keywords),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        (collection::vec(assertion(), 0..3), collection::vec(applicator(inner), 1..4))
            .prop_map(|(assertions, applicators)| keywords(assertions.into_iter().chain(applicators)))
    })
}

fn keywords(all: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>().into()
}

/// A schema with the two definitions that references in it point to.
pub(crate) fn schema() -> impl Strategy<Value = Value> {
    (subschema(), subschema(), subschema()).prop_map(|(mut root, one, two)| {
        if let Value::Object(keywords) = &mut root {
            let two = json!({ "$anchor": "two", "allOf": [without_loops(two)] });
            keywords.insert("$defs".to_owned(), json!({ "one": without_loops(one), "two": two }));
        }
        root
    })
}

/// A definition that refers to itself for the same value means nothing, so validators may differ. It may do so for
/// members and items.
fn without_loops(mut schema: Value) -> Value {
    let Some(keywords) = schema.as_object_mut() else { return schema };
    keywords.remove("$ref");
    for (keyword, value) in keywords {
        let below: Vec<&mut Value> = match (keyword.as_str(), value) {
            ("not" | "if" | "then" | "else", one) => vec![one],
            ("allOf" | "anyOf" | "oneOf", Value::Array(list)) => list.iter_mut().collect(),
            ("dependentSchemas" | "dependencies", Value::Object(map)) => map.values_mut().collect(),
            _ => Vec::new(),
        };
        below.into_iter().for_each(|one| *one = without_loops(one.take()));
    }
    schema
}

/// A value that a schema might accept, as far as its simple keywords tell. `choices` decide what they leave open.
pub(crate) fn fitting(schema: &Value, root: &Value, choices: u64, depth: u32) -> Option<Value> {
    let next = |salt: u64| choices.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(salt * 2 + 1);
    let below =
        |schema: &Value, salt| fitting(schema, root, next(salt).rotate_left(17), depth.checked_sub(1)?);
    let pick = |len: usize| usize::try_from(choices % len.max(1) as u64).ok();
    if let Some(value) = schema.get("const") {
        return Some(value.clone());
    }
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        return options.get(pick(options.len())?).cloned();
    }
    match schema.get("$ref").and_then(Value::as_str) {
        Some("#two") => return below(root.pointer("/$defs/two")?, 1),
        Some(_) => return below(root.pointer("/$defs/one")?, 1),
        None => {}
    }
    for list in ["allOf", "anyOf", "oneOf"] {
        if let Some(all) = schema.get(list).and_then(Value::as_array)
            && choices & 2 == 0
        {
            return below(all.get(pick(all.len())?)?, 2);
        }
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    if properties.is_some() || required.is_some() {
        let mut object = Map::new();
        for (salt, (name, schema)) in (3..).zip(properties.into_iter().flatten()) {
            object.extend(below(schema, salt).map(|value| (name.clone(), value)));
        }
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            object.entry(name).or_insert(json!(1));
        }
        return Some(Value::Object(object));
    }
    let items = schema.get("items").into_iter();
    let prefix = schema.get("prefixItems").and_then(Value::as_array).into_iter().flatten();
    let items: Vec<Value> =
        (20..).zip(prefix.chain(items)).filter_map(|(salt, schema)| below(schema, salt)).collect();
    if !items.is_empty() {
        return Some(Value::Array(items));
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.get(pick(kinds.len())?)?.as_str()?,
        kind => kind?.as_str()?,
    };
    Some(match kind {
        "null" => Value::Null,
        "boolean" => json!(choices & 1 == 0),
        "integer" => json!(choices % 7),
        "number" => json!((choices % 13) as f64 / 2.0),
        "string" => json!(TEXTS[pick(TEXTS.len())?]),
        "array" => json!([1, "a"]),
        _ => json!({ "a": 1 }),
    })
}
