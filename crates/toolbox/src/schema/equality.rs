//! Equality of JSON values as JSON Schema has it: numbers are equal by value, members have no order.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use serde_json::Value;

use crate::schema::number;

pub(super) fn are_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => number::compare(left, right) == Ordering::Equal,
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| are_equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(name, left)| right.get(name).is_some_and(|right| are_equal(left, right)))
        }
        _ => left == right,
    }
}

/// Whether no item repeats. Hashing keeps long lists from taking quadratic time.
pub(super) fn are_unique(items: &[Value]) -> bool {
    let state = RandomState::new();
    let mut seen: HashMap<u64, Vec<&Value>> = HashMap::with_capacity(items.len());
    items.iter().all(|item| {
        let alike = seen.entry(hash(item, &state)).or_default();
        let is_new = !alike.iter().any(|other| are_equal(other, item));
        alike.push(item);
        is_new
    })
}

/// Equal values have equal hashes.
fn hash(value: &Value, state: &RandomState) -> u64 {
    let mut hasher = state.build_hasher();
    match value {
        Value::Null => {}
        Value::Bool(flag) => flag.hash(&mut hasher),
        // Numbers of the same value are the same float; adding zero makes the two zeros one.
        Value::Number(number) => (number.as_f64().unwrap_or_default() + 0.0).to_bits().hash(&mut hasher),
        Value::String(text) => text.hash(&mut hasher),
        Value::Array(items) => items.iter().for_each(|item| hash(item, state).hash(&mut hasher)),
        Value::Object(members) => {
            let mixed = members
                .iter()
                .fold(0, |mixed, (name, value)| mixed ^ state.hash_one((name, hash(value, state))));
            mixed.hash(&mut hasher);
        }
    }
    hasher.finish()
}
