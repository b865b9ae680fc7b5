use failwell_rpc::Caller;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The digest that a sealed state is bound to: caller, method, target and arguments in canonical form.
pub(crate) fn binding(caller: &Caller, method: &str, target: &str, arguments: &Value) -> Vec<u8> {
    let mut hash = Sha256::new();
    for part in [&caller.to_string(), method, target] {
        feed_text(&mut hash, part);
    }
    feed(&mut hash, arguments);
    hash.finalize().to_vec()
}

/// The length comes first, so that no two different lists of parts hash the same bytes.
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
