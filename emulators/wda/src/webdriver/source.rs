//! The tree as text: XML as the runner writes it, or JSON.

use failwell_emulator_http::escape_markup;
use serde_json::{Value, json};

use crate::phone::screen::{Screen, UiElement, attribute};

/// The attributes of the XML, in order.
const WRITTEN: [&str; 13] = [
    "type",
    "value",
    "name",
    "label",
    "enabled",
    "visible",
    "accessible",
    "x",
    "y",
    "width",
    "height",
    "index",
    "placeholderValue",
];

/// The whole screen as XML, in an element of its own when the caller names one.
pub(crate) fn xml(screen: &Screen, scope: Option<&str>, excluded: &[&str]) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    let scope = scope.filter(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric()));
    if let Some(scope) = scope {
        text.push_str(&format!("<{scope}>"));
    }
    write(screen, 0, excluded, &mut text);
    if let Some(scope) = scope {
        text.push_str(&format!("</{scope}>"));
    }
    text
}

fn write(screen: &Screen, index: usize, excluded: &[&str], text: &mut String) {
    let Some(node) = screen.node(index) else { return };
    let name = node.type_name();
    text.push('<');
    text.push_str(&name);
    for key in WRITTEN.iter().filter(|key| !excluded.contains(key)) {
        if let Some(value) = attribute(screen, index, key).and_then(|value| value.written()) {
            text.push_str(&format!(" {key}=\"{}\"", escaped(&value)));
        }
    }
    if node.children.is_empty() {
        text.push_str("/>");
        return;
    }
    text.push('>');
    for &child in &node.children {
        write(screen, child, excluded, text);
    }
    text.push_str(&format!("</{name}>"));
}

/// XML has no way to write most control characters.
fn escaped(text: &str) -> String {
    escape_markup(text).replace(|character| character < ' ', "\u{fffd}")
}

/// The same as JSON.
pub(crate) fn json(screen: &Screen, index: usize) -> Value {
    let Some(node) = screen.node(index) else { return Value::Null };
    let mut value = json_element(node);
    if !node.children.is_empty() {
        let children = node.children.iter().map(|&child| json(screen, child)).collect();
        if let Some(object) = value.as_object_mut() {
            object.insert("children".to_owned(), Value::Array(children));
        }
    }
    value
}

fn json_element(node: &UiElement) -> Value {
    let rect = node.rect;
    json!({
        "type": node.kind,
        "rawIdentifier": node.name,
        "name": node.name,
        "value": node.value,
        "label": node.label,
        "frame": format!("{{{{{}, {}}}, {{{}, {}}}}}", rect.x, rect.y, rect.width, rect.height),
        "rect": {"x": rect.x, "y": rect.y, "width": rect.width, "height": rect.height},
        "isEnabled": if node.enabled { "1" } else { "0" },
        "isVisible": if node.visible { "1" } else { "0" },
    })
}

/// Only what is there for people, flat.
pub(crate) fn accessible(screen: &Screen) -> Value {
    let all = screen.nodes.iter().filter(|node| node.visible && node.is_accessible());
    Value::Array(all.map(json_element).collect())
}
