//! Compares what the navigation finds with what serde_json finds. The fuzz target of the scan uses this file, too.

use failwell_rpc::{Kind, Raw};
use serde_json::Value;

/// The navigation must find exactly the values that serde_json finds.
pub(crate) fn same(raw: Raw<'_>, value: &Value) {
    match value {
        Value::Null => assert!(raw.is_null()),
        Value::Bool(flag) => assert_eq!(raw.as_bool(), Some(*flag)),
        Value::Number(number) => {
            assert_eq!(raw.kind(), Kind::Number);
            assert_eq!(raw.as_f64(), number.as_f64());
            assert!(number.as_u64().is_none() || raw.as_u64() == number.as_u64());
            assert!(number.as_i64().is_none() || raw.as_i64() == number.as_i64());
        }
        Value::String(text) => assert_eq!(raw.as_str().as_deref(), Some(text.as_str())),
        Value::Array(values) => {
            let found: Vec<_> = raw.as_array().into_iter().flatten().collect();
            assert_eq!(found.len(), values.len());
            found.into_iter().zip(values).for_each(|(raw, value)| same(raw, value));
        }
        Value::Object(members) => {
            let object = raw.as_object().expect("an object");
            assert_eq!(object.iter().count(), members.len());
            assert_eq!(object.is_empty(), members.is_empty());
            for (key, raw) in object {
                same(raw, &members[key.as_ref()]);
            }
            members.iter().for_each(|(key, value)| same(object.get(key).expect("the member"), value));
            assert!(members.contains_key("missing") || object.get("missing").is_none());
        }
    }
}
