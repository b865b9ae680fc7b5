use failwell_policy::Caller;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// What a sealed state is bound to: the caller, the method, its target and its arguments, however written.
pub(crate) fn binding(caller: &Caller, method: &str, target: &str, arguments: &Value) -> Vec<u8> {
    let mut hash = Sha256::new();
    for part in [&caller.to_string(), method, target] {
        feed_text(&mut hash, part);
    }
    feed(&mut hash, arguments);
    hash.finalize().to_vec()
}

/// Length first, so that no two different lists of parts feed the same bytes.
fn feed_text(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u64).to_le_bytes());
    hash.update(text.as_bytes());
}

fn feed(hash: &mut Sha256, value: &Value) {
    match value {
        Value::Object(members) => {
            hash.update([b'{']);
            let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            for (key, value) in sorted {
                feed_text(hash, key);
                feed(hash, value);
            }
            hash.update([b'}']);
        }
        Value::Array(items) => {
            hash.update([b'[']);
            items.iter().for_each(|item| feed(hash, item));
            hash.update([b']']);
        }
        scalar => feed_text(hash, &scalar.to_string()),
    }
}
