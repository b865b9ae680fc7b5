//! Redactions by custom guards remove the named parts and leave valid JSON.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at the first surprise"
)]

use failwell_policy::guard::custom::{CustomVerdict, MessagePart, RedactionRequest, redact};
use proptest::prelude::{ProptestConfig, any, prop, proptest};
use serde_json::{Value, json};

const LABEL: &str = "[redacted: g/x]";

fn request(verdict: Value) -> RedactionRequest {
    let mut verdict = verdict;
    verdict["verdict"] = json!("redact");
    match CustomVerdict::parse(&verdict) {
        Ok(CustomVerdict::Redact { request, .. }) => request,
        other => panic!("{other:?}"),
    }
}

fn done(json: &str, from: usize, verdict: Value) -> Option<String> {
    let (bytes, count) = redact(json.as_bytes(), from, LABEL, &request(verdict)).ok()?;
    assert!(count > 0);
    let text = String::from_utf8(bytes).expect("text");
    serde_json::from_str::<Value>(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    Some(text)
}

fn check(json: &str, verdict: Value, left: &str) {
    assert_eq!(done(json, 0, verdict.clone()).as_deref(), Some(left), "{json} {verdict}");
}

#[test]
fn texts_are_taken_out_wherever_they_stand() {
    check(r#"{"a":"x 123 y"}"#, json!({"strings": ["123"]}), r#"{"a":"x [redacted: g/x] y"}"#);
    check(r#"{"123":123}"#, json!({"strings": ["123"]}), r#"{"[redacted: g/x]":123}"#);
    check(
        r#"{"ab":1,"b":2}"#,
        json!({"strings": ["b", "ab"]}),
        r#"{"[redacted: g/x]":1,"[redacted: g/x] #2":2}"#,
    );
    check(
        r#"["a\nb","\u0061\nb"]"#,
        json!({"strings": ["a\nb"]}),
        r#"["[redacted: g/x]","[redacted: g/x]"]"#,
    );
    check(r#"["\"q\" 9"]"#, json!({"strings": ["\"q\""]}), r#"["[redacted: g/x] 9"]"#);
    check(r#"["日本語"]"#, json!({"strings": ["本"]}), r#"["日[redacted: g/x]語"]"#);
}

#[test]
fn what_overlaps_is_taken_out_once() {
    check(r#"["abcdef"]"#, json!({"strings": ["abcd", "cdef"]}), r#"["[redacted: g/x]"]"#);
    check(r#"["aaaa b"]"#, json!({"strings": ["aa"]}), r#"["[redacted: g/x] b"]"#);
    check(
        r#"["abcdef"]"#,
        json!({"strings": ["cd"], "parts": [{"at": "/0", "from": 3, "to": 5}]}),
        r#"["ab[redacted: g/x]f"]"#,
    );
    check(
        r#"["abcdef"]"#,
        json!({"parts": [{"at": "/0"}, {"at": "/0", "from": 0, "to": 2}]}),
        r#"["[redacted: g/x]"]"#,
    );
}

#[test]
fn places_are_texts_numbers_and_all_below_them() {
    let message = r#"{"a":{"b":["x",1.5,true,null,{"c":"y"}]},"d~/e":"z"}"#;
    check(
        message,
        json!({"parts": [{"at": "/a/b/0"}]}),
        r#"{"a":{"b":["[redacted: g/x]",1.5,true,null,{"c":"y"}]},"d~/e":"z"}"#,
    );
    check(
        message,
        json!({"parts": [{"at": "/a"}]}),
        r#"{"a":{"b":["[redacted: g/x]","[redacted: g/x]",true,null,{"c":"[redacted: g/x]"}]},"d~/e":"z"}"#,
    );
    check(
        message,
        json!({"parts": [{"at": "/d~0~1e"}]}),
        r#"{"a":{"b":["x",1.5,true,null,{"c":"y"}]},"d~/e":"[redacted: g/x]"}"#,
    );
    check(r#"[{"\u0061":"x"}]"#, json!({"parts": [{"at": "/0/a"}]}), r#"[{"\u0061":"[redacted: g/x]"}]"#);
    check(r#"["é1"]"#, json!({"parts": [{"at": "/0", "from": 1, "to": 2}]}), r#"["[redacted: g/x]1"]"#);
    check("\"x\"", json!({"parts": [{"at": ""}]}), "\"[redacted: g/x]\"");
}

#[test]
fn a_place_for_code_holds_code() {
    check(
        r#"{"data":"aGVsbG8gd29ybGQ="}"#,
        json!({"strings": ["d29y"]}),
        r#"{"data":"W3JlZGFjdGVkOiBnL3hd"}"#,
    );
}

#[test]
fn a_wish_that_cannot_be_met_fails_instead_of_passing() {
    for verdict in [
        json!({"strings": ["nowhere"]}),
        json!({"parts": [{"at": "/b"}]}),
        json!({"parts": [{"at": "/a/0"}]}),
        json!({"parts": [{"at": "a"}]}),
        json!({"parts": [{"at": "/a", "from": 0, "to": 99}]}),
        json!({"parts": [{"at": "/n", "from": 0, "to": 1}]}),
        json!({"parts": [{"at": "/o", "from": 0, "to": 1}]}),
        json!({"strings": ["text"], "parts": [{"at": "/o/none"}]}),
    ] {
        assert_eq!(done(r#"{"a":"text","n":5,"o":{}}"#, 0, verdict.clone()), None, "{verdict}");
    }
    let long = format!("[\"{}\"]", "e".repeat(200_000).replace("ee", "ea"));
    assert_eq!(done(&long, 0, json!({"strings": ["e"]})), None, "it must not grow without end");
}

#[test]
fn what_belongs_to_the_protocol_is_left_alone() {
    let message = r#"{"jsonrpc":"2.0","id":"abc","result":{"text":"abc"}}"#;
    let from = message.find(",\"result\"").expect("there");
    assert_eq!(
        done(message, from, json!({"strings": ["abc"]})).as_deref(),
        Some(r#"{"jsonrpc":"2.0","id":"abc","result":{"text":"[redacted: g/x]"}}"#)
    );
    assert_eq!(done(message, from, json!({"parts": [{"at": "/id"}]})), None);
    assert_eq!(done(message, from, json!({"parts": [{"at": ""}]})), None);
}

/// JSON values of limited depth.
fn any_json() -> impl proptest::strategy::Strategy<Value = Value> {
    use proptest::strategy::Strategy;
    let leaf = proptest::prop_oneof![
        "[a-c\"\\\\\n\u{e9}\u{65e5}\u{1f600}]{0,8}".prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        proptest::prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c\"~/]{1,3}", inner, 0..4)
                .prop_map(|all| Value::Object(all.into_iter().collect())),
        ]
    })
}

/// All strings and member names.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(members) => {
            members.iter().flat_map(|(name, value)| [vec![name.clone()], texts(value)].concat()).collect()
        }
        _ => Vec::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn whatever_is_wished_what_is_left_is_json(
        value in any_json(),
        strings in prop::collection::vec("[a-c\"\\\\\n\u{e9}\u{65e5}]{1,3}", 0..3),
        parts in prop::collection::vec(("(/[a-c0-2\"]){0,3}", any::<bool>(), 0usize..6, 1usize..4), 0..3),
        pretty in any::<bool>(),
    ) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let text = text.expect("JSON");
        let part = |(at, ranged, from, length): (String, bool, usize, usize)| {
            MessagePart { at, range: ranged.then_some((from, from + length)) }
        };
        let request = RedactionRequest { strings, parts: parts.into_iter().map(part).collect() };
        if let Ok((bytes, _)) = redact(text.as_bytes(), 0, LABEL, &request) {
            let left: Value = serde_json::from_slice(&bytes).expect("JSON is left");
            let texts = texts(&left).join("\u{1}").replace(LABEL, "\u{1}");
            for string in &request.strings {
                proptest::prop_assert!(!texts.contains(string), "{string:?} is left in {texts}");
            }
        }
    }
}
