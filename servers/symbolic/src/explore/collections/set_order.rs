//! The iteration order of a set of small integers in CPython.
//!
//! It applies only to known, non-negative items below the size of the smallest table. Without collisions,
//! every item is in the slot of its own value, independent of the history of the set.

use crate::values::{Int, Value};

/// The number of slots of the smallest table.
const SMALLEST: i64 = 8;

pub(crate) fn order(items: &[Value]) -> Option<Vec<Value>> {
    let mut keyed: Vec<(i64, &Value)> = Vec::new();
    for item in items {
        let Value::Int(value @ Int::Known(_)) = item else { return None };
        let key = value.small().filter(|key| (0..SMALLEST).contains(key))?;
        keyed.push((key, item));
    }
    keyed.sort_by_key(|(key, _)| *key);
    Some(keyed.into_iter().map(|(_, item)| item.clone()).collect())
}
