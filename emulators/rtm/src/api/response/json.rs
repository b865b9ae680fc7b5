//! The JSON the service makes of its XML: attributes and children become members, text beside attributes becomes `$t`.

use serde_json::{Map, Value};

use super::{Children, Element, SingleItemForm};

pub(super) fn value(element: &Element, single: SingleItemForm) -> Value {
    let bare = element.attributes.is_empty() && members(element) == 0;
    match &element.text {
        _ if bare && element.is_wrapper => Value::Array(vec![]),
        Some(text) if bare => Value::String(text.clone()),
        None if bare && element.children.is_empty() => Value::String(String::new()),
        _ => Value::Object(object(element, single)),
    }
}

/// How many children there are to write.
fn members(element: &Element) -> usize {
    let count = |children: &Children| match children {
        Children::One(_) => 1,
        Children::Many(_, items) => items.len(),
    };
    element.children.iter().map(count).sum()
}

fn object(element: &Element, single: SingleItemForm) -> Map<String, Value> {
    let attributes = element.attributes.iter();
    let mut object: Map<String, Value> =
        attributes.map(|(name, value)| (name.to_string(), Value::String(value.clone()))).collect();
    for children in &element.children {
        match children {
            Children::One(child) => {
                object.insert(child.name.to_string(), value(child, single));
            }
            Children::Many(_, items) if items.is_empty() => {}
            Children::Many(name, items) => {
                object.insert(name.to_string(), several(items, single));
            }
        }
    }
    if let Some(text) = &element.text {
        object.insert("$t".to_owned(), Value::String(text.clone()));
    }
    object
}

fn several(items: &[Element], single: SingleItemForm) -> Value {
    match (items, single) {
        ([only], SingleItemForm::Thing) => value(only, single),
        _ => Value::Array(items.iter().map(|item| value(item, single)).collect()),
    }
}
