//! Distorted responses for fault injection: shapes that clients of the real service have to accept.

use serde_json::{Map, Value};

/// Lists of one become that one, and objects that stand alone become lists of one.
pub(crate) fn flip_lists(answer: Value) -> Value {
    match answer {
        Value::Object(object) => {
            let flip = |(name, value): (String, Value)| {
                let outer =
                    matches!(name.as_str(), "rsp" | "err" | "transaction" | "auth" | "user" | "rrule");
                let value = flip_lists(value);
                (name, if outer { value } else { flip_value(value) })
            };
            Value::Object(object.into_iter().map(flip).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(flip_lists).collect()),
        other => other,
    }
}

fn flip_value(value: Value) -> Value {
    match value {
        Value::Array(mut items) if items.len() == 1 => items.pop().unwrap_or(Value::Null),
        Value::Object(object) if !is_wrapper(&object) => Value::Array(vec![Value::Object(object)]),
        other => other,
    }
}

/// `{"tag": […]}` and its like hold one member; making a list of them would change what they say.
fn is_wrapper(object: &Map<String, Value>) -> bool {
    object.values().any(|value| value.is_array() || value.is_object()) && !object.contains_key("id")
}

/// Adds unknown members to every object.
pub(crate) fn with_unknown_fields(answer: Value) -> Value {
    match answer {
        Value::Object(object) => {
            let mut object: Map<String, Value> =
                object.into_iter().map(|(name, value)| (name, with_unknown_fields(value))).collect();
            object.insert("x_new".to_owned(), Value::String("something new".to_owned()));
            object.insert("x_newer".to_owned(), serde_json::json!({"nested": [1, null, {"deep": true}]}));
            Value::Object(object)
        }
        Value::Array(items) => Value::Array(items.into_iter().map(with_unknown_fields).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{flip_lists, with_unknown_fields};

    #[test]
    fn lists_of_one_and_single_objects_change_places() {
        let answer =
            json!({"rsp": {"stat": "ok", "list": {"id": "1", "taskseries": [{"id": "2", "tags": []}]}}});
        let bent =
            json!({"rsp": {"stat": "ok", "list": [{"id": "1", "taskseries": {"id": "2", "tags": []}}]}});
        assert_eq!(flip_lists(answer), bent);
    }

    #[test]
    fn strangers_are_everywhere() {
        let bent = with_unknown_fields(json!({"rsp": {"list": [{"id": "1"}]}}));
        assert_eq!(bent["rsp"]["list"][0]["x_new"], "something new");
        assert_eq!(bent["x_newer"]["nested"][2]["deep"], true);
    }
}
