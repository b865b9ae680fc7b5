//! Content guards on any bytes. A redacted message is JSON of the same shape and has no finding.
#![no_main]

use std::sync::LazyLock;

use failwell_policy::guard::{Action, Direction, GuardRule, Sensitivity, Verdict};
use failwell_policy::{GuardSettings, Guards};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

static GUARDS: LazyLock<Guards> = LazyLock::new(|| {
    Guards::compile(GuardSettings {
        secrets: GuardRule::everywhere(Action::Redact),
        pii: GuardRule::everywhere(Action::Redact),
        injection: GuardRule::everywhere(Action::Redact),
        sensitivity: Sensitivity::default(),
    })
    .expect("guards")
});

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = GUARDS.scrub(text);
        let _ = GUARDS.redact_for_storage(Direction::Result, "server", text);
    }
    // Guards only see JSON, because the strict scan comes first. Input that is not JSON is put into a JSON string.
    let json = match serde_json::from_slice::<Value>(bytes) {
        Ok(_) => bytes.to_vec(),
        Err(_) => {
            serde_json::to_vec(&serde_json::json!({ "text": String::from_utf8_lossy(bytes) })).expect("JSON")
        }
    };
    let Verdict::Redacted { bytes: redacted, findings } =
        GUARDS.inspect(Direction::Result, "server", &json, 0)
    else {
        return;
    };
    assert!(!findings.is_empty());
    let before: Value = serde_json::from_slice(&json).expect("JSON");
    let after: Value = serde_json::from_slice(&redacted).expect("a redacted message is JSON");
    assert_eq!(shape(&before), shape(&after));
    let again = GUARDS.inspect(Direction::Result, "server", &redacted, 0);
    assert!(matches!(again, Verdict::Pass), "{again:?} in {}", String::from_utf8_lossy(&redacted));
});

/// The number of values on each level. A redaction changes names and texts only.
fn shape(value: &Value) -> Vec<usize> {
    let mut level = vec![value];
    let mut counts = Vec::new();
    while !level.is_empty() {
        counts.push(level.len());
        level = level
            .into_iter()
            .flat_map(|value| match value {
                Value::Array(values) => values.iter().collect::<Vec<_>>(),
                Value::Object(members) => members.values().collect(),
                _ => Vec::new(),
            })
            .collect();
    }
    counts
}
