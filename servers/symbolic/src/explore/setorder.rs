//! The order in which CPython goes through a set of small integers.
//!
//! Only for items that are known, non-negative and below the size of the smallest table there is: then every
//! item sits at its own value, whatever the history of the set, because nothing collides.

use crate::values::{Int, Value};

/// Slots of the smallest table.
const SMALLEST: i64 = 8;

pub(super) fn order(items: &[Value]) -> Option<Vec<Value>> {
    let mut keyed: Vec<(i64, &Value)> = Vec::new();
    for item in items {
        let Value::Int(value @ Int::Known(_)) = item else { return None };
        let key = value.small().filter(|key| (0..SMALLEST).contains(key))?;
        keyed.push((key, item));
    }
    keyed.sort_by_key(|(key, _)| *key);
    Some(keyed.into_iter().map(|(_, item)| item.clone()).collect())
}
