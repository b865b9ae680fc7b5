//! The attributes of an element: what selectors ask for, and what the source says.

use serde_json::{Value, json};

use super::Screen;

/// A value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Attribute {
    Text(String),
    Number(i32),
    Flag(bool),
    Nothing,
}

impl Attribute {
    fn text(text: Option<&String>) -> Attribute {
        text.map_or(Attribute::Nothing, |text| Attribute::Text(text.clone()))
    }

    /// As the source writes it.
    pub(crate) fn written(&self) -> Option<String> {
        match self {
            Attribute::Text(text) => Some(text.clone()),
            Attribute::Number(number) => Some(number.to_string()),
            Attribute::Flag(flag) => Some(flag.to_string()),
            Attribute::Nothing => None,
        }
    }

    /// As the runner answers it.
    pub(crate) fn answered(&self) -> Value {
        match self {
            Attribute::Text(text) => json!(text),
            Attribute::Number(number) => json!(number.to_string()),
            Attribute::Flag(flag) => json!(flag.to_string()),
            Attribute::Nothing => Value::Null,
        }
    }
}

/// The attribute of that name, which may be written the long way, as in `isWDEnabled`. None when there is no such name.
pub(crate) fn attribute(screen: &Screen, index: usize, name: &str) -> Option<Attribute> {
    let node = screen.node(index)?;
    let rect = node.rect;
    Some(match plain(name).as_str() {
        "type" | "elementtype" => Attribute::Text(node.type_name()),
        "name" | "identifier" => Attribute::text(node.name.as_ref()),
        "label" => Attribute::text(node.label.as_ref()),
        "value" => Attribute::text(node.value.as_ref()),
        "placeholdervalue" => {
            node.placeholder.map_or(Attribute::Nothing, |text| Attribute::Text(text.to_owned()))
        }
        "enabled" => Attribute::Flag(node.enabled),
        "visible" => Attribute::Flag(node.visible),
        "accessible" => Attribute::Flag(node.is_accessible()),
        "selected" => Attribute::Flag(node.selected),
        "focused" => Attribute::Flag(node.selected && node.placeholder.is_some()),
        "hittable" => Attribute::Flag(node.visible && !screen.is_covered(index)),
        "x" => Attribute::Number(rect.x),
        "y" => Attribute::Number(rect.y),
        "width" => Attribute::Number(rect.width),
        "height" => Attribute::Number(rect.height),
        "index" => Attribute::Number(place(screen, index)),
        "rect" | "frame" => Attribute::Text(
            json!({"x": rect.x, "y": rect.y, "width": rect.width, "height": rect.height}).to_string(),
        ),
        _ => return None,
    })
}

/// Which child of its parent it is.
fn place(screen: &Screen, index: usize) -> i32 {
    let siblings =
        screen.node(index).and_then(|node| node.parent).map_or(&[] as &[usize], |p| screen.children(p));
    siblings
        .iter()
        .position(|&other| other == index)
        .and_then(|at| i32::try_from(at).ok())
        .unwrap_or_default()
}

fn plain(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let short = lower.strip_prefix("is").filter(|rest| !rest.is_empty()).unwrap_or(&lower);
    short.strip_prefix("wd").unwrap_or(short).to_owned()
}
