//! Compares the scan and the navigation with serde_json on generated input.

#![allow(clippy::expect_used, reason = "helpers of tests are tests")]

#[path = "support/same_values.rs"]
mod same_values;

use failwell_rpc::scan::{Scan, scan};
use failwell_rpc::{Defect, Json, Limits};
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use proptest::{collection, prop_assert, prop_assert_eq};
use serde::de::IgnoredAny;
use serde_json::Value;

use same_values::same;

fn verdict(bytes: &[u8]) -> Option<Defect> {
    match scan(bytes, &Limits { max_depth: 127, max_batch: usize::MAX, ..Limits::default() }) {
        Err(defect) => Some(defect),
        Ok(Scan::One(envelope)) => envelope.soft_defect(),
        Ok(Scan::Batch(envelopes)) => envelopes.iter().find_map(|envelope| envelope.soft_defect()),
    }
}

fn compare(text: &str) {
    let found = verdict(text.as_bytes());
    let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
    assert_eq!(found.is_some_and(Defect::is_hard), !is_json, "{text:?} gave {found:?}");
    let value = serde_json::from_str::<Value>(text);
    match found {
        None => {
            let json = Json::read(text, &Limits::default()).expect("accepted alone");
            same(json.raw(), &value.expect("accepted by serde_json"));
        }
        Some(Defect::DuplicateKey { .. } | Defect::TooManyKeys { .. }) => {}
        Some(_) => assert!(value.is_err(), "{text:?} gave {found:?}"),
    }
}

fn values() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
    ];
    let text = prop_oneof![any::<String>(), "[ -~]{0,40}", Just("\"\\/\u{8}\u{c}\n\r\t\0😀".to_owned())];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number,
        text.prop_map(Value::from)
    ];
    leaf.prop_recursive(6, 200, 24, |inner| {
        let members = collection::vec((any::<String>(), inner.clone()), 0..24);
        prop_oneof![
            collection::vec(inner, 0..24).prop_map(Value::from),
            members.prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Random sequences of JSON tokens, often nearly valid.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        proptest::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "\\",
            "\"a\"",
            "\"b\"",
            "\"\\u0061\"",
            "\\u",
            "\\ud83d",
            "\\ude00",
            "0",
            "1",
            "-",
            "+",
            ".",
            "e",
            "E",
            "1e400",
            "12",
            "true",
            "false",
            "null",
            " ",
            "\n",
            "\"a\":",
            "\"b\":1",
            ",\"a\":",
            "é",
            "\u{feff}",
            "\0",
            "[]",
            "{}",
            "\"id\":1",
        ])
        .prop_map(str::to_owned),
        "[0-9.eE+-]{1,6}",
    ];
    collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn generated_values_agree(value in values()) {
        compare(&value.to_string());
        compare(&serde_json::to_string_pretty(&value).unwrap());
    }

    #[test]
    fn nearly_json_agrees(text in pieces()) {
        compare(&text);
    }

    #[test]
    fn damaged_json_agrees(value in values(), at in any::<proptest::sample::Index>(), piece in pieces()) {
        let mut text = value.to_string();
        let mut at = at.index(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        text.insert_str(at, &piece);
        compare(&text);
        text.truncate(at);
        compare(&text);
    }

    #[test]
    fn any_bytes_agree(bytes in collection::vec(any::<u8>(), 0..64)) {
        let is_text = std::str::from_utf8(&bytes).is_ok();
        prop_assert_eq!(matches!(verdict(&bytes), Some(Defect::Utf8 { .. })), !is_text);
    }

    #[test]
    fn written_strings_read_back(text in any::<String>()) {
        let mut out = b"before".to_vec();
        failwell_rpc::write::push_json_string(&mut out, &text);
        let written = std::str::from_utf8(&out[6..]).unwrap();
        prop_assert_eq!(&serde_json::from_str::<String>(written).unwrap(), &text);
        let json = Json::read(written, &Limits::default()).unwrap();
        let decoded = json.raw().as_str();
        prop_assert_eq!(decoded.as_deref(), Some(text.as_str()));
        prop_assert!(!written.bytes().any(|byte| byte < 0x20));
    }

    #[test]
    fn one_line_changes_no_value(value in values()) {
        let mut text = serde_json::to_string_pretty(&value).unwrap().into_bytes();
        let value = serde_json::from_slice::<Value>(&text).unwrap();
        failwell_rpc::write::keep_on_one_line(&mut text);
        prop_assert!(!text.contains(&b'\n'));
        prop_assert_eq!(serde_json::from_slice::<Value>(&text).unwrap(), value);
    }
}
