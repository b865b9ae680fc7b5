//! The scan compared with serde_json on any bytes: both accept the same JSON and find the same values, and the scan finds
//! the id of a refused message.
#![no_main]

#[path = "../../crates/rpc/tests/support/same_values.rs"]
mod same_values;

use failwell_rpc::scan::{Envelope, Scan, scan};
use failwell_rpc::{Defect, Incoming, Limits, Message, read};
use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;
use serde_json::Value;

use same_values::same;

fuzz_target!(|bytes: &[u8]| {
    // The depth limit of serde_json is one level lower than the default of the scan, and it has no batches.
    let limits = Limits { max_depth: 127, max_batch: usize::MAX, ..Limits::default() };
    let scanned = scan(bytes, &limits);
    let text = std::str::from_utf8(bytes);
    let is_json = text.is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok());
    assert_eq!(scanned.is_ok(), is_json, "{scanned:?}");
    match scanned {
        Err(defect) => {
            assert!(defect.is_hard() && defect.offset() <= bytes.len());
            assert_eq!(matches!(defect, Defect::Utf8 { .. }), text.is_err());
        }
        Ok(Scan::One(envelope)) => judge(&envelope),
        Ok(Scan::Batch(envelopes)) => envelopes.iter().for_each(judge),
    }
    meaning(read(bytes, &limits));
});

fn judge(envelope: &Envelope<'_>) {
    let value = serde_json::from_str::<Value>(envelope.raw().text());
    match (envelope.soft_defect(), value) {
        (None, Ok(value)) => {
            same(envelope.raw(), &value);
            written(&value);
        }
        // The scan counts the batch as a level; serde_json sees only its elements.
        (Some(Defect::DuplicateKey { .. } | Defect::TooManyKeys { .. } | Defect::Depth { .. }), _) => {}
        (Some(Defect::NumberRange { .. }), Ok(_)) => assert!(envelope.raw().text().len() > limits_number()),
        (Some(_), Err(_)) => {}
        (defect, value) => panic!("{defect:?} against {value:?}"),
    }
}

fn limits_number() -> usize {
    Limits::default().max_number
}

/// Every string that is written is read back as it was.
fn written(value: &Value) {
    match value {
        Value::String(text) => {
            let mut written = Vec::new();
            failwell_rpc::write::push_json_string(&mut written, text);
            assert_eq!(&serde_json::from_slice::<String>(&written).unwrap(), text);
        }
        Value::Array(values) => values.iter().for_each(written),
        Value::Object(members) => members.values().for_each(written),
        _ => {}
    }
}

fn meaning(incoming: Incoming<'_>) {
    let verdicts = match incoming {
        Incoming::One(verdict) => vec![verdict],
        Incoming::Batch(verdicts) => verdicts,
    };
    for verdict in verdicts {
        match verdict {
            Ok(Message::Request(request)) => {
                passed_on(request.text(), request.id.text(), request.splice_id("99"));
                let value: Value = serde_json::from_str(request.text()).unwrap();
                assert_eq!(Some(request.method.as_ref()), value["method"].as_str());
                if let Some(Value::Object(params)) = value.get("params") {
                    params.iter().for_each(|(key, value)| same(request.param(key).unwrap(), value));
                }
                let _ = request.meta("progressToken");
            }
            Ok(Message::Notification(note)) => {
                assert!(note.param("no such member").is_none() || note.params.is_some())
            }
            Ok(Message::Response(response)) => {
                passed_on(response.text(), response.id.text(), response.splice_id("99"));
                let value: Value = serde_json::from_str(response.text()).unwrap();
                let whole = &value[if response.body.is_ok() { "result" } else { "error" }];
                if let Value::Object(members) = whole {
                    members.iter().for_each(|(key, value)| same(response.member(key).unwrap(), value));
                }
                assert_eq!(response.member("name").is_some(), whole.get("name").is_some());
            }
            Err(unreadable) => {
                let hint = unreadable.fault.to_string();
                assert!(!hint.is_empty());
                assert!(unreadable.id.is_none_or(|id| serde_json::from_str::<IgnoredAny>(id.text()).is_ok()));
            }
        }
    }
}

/// Replacing the id changes nothing else.
fn passed_on(text: &str, id: &str, pieces: [&[u8]; 3]) {
    let [before, _, after] = pieces;
    assert_eq!([before, id.as_bytes(), after].concat(), text.as_bytes());
    let mut expected: Value = serde_json::from_str(text).unwrap();
    expected["id"] = Value::from(99);
    assert_eq!(serde_json::from_slice::<Value>(&pieces.concat()).unwrap(), expected);
}
