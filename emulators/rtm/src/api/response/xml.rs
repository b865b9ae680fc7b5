//! The answer as XML, the service's own format.

use super::{Children, Element};

pub(super) fn document(element: &Element) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    write(element, &mut out);
    out
}

fn write(element: &Element, out: &mut String) {
    out.push('<');
    out.push_str(&element.name);
    for (name, value) in &element.attributes {
        out.push(' ');
        out.push_str(name);
        out.push_str("=\"");
        escape(value, out);
        out.push('"');
    }
    let start = out.len();
    out.push('>');
    let opened = out.len();
    if let Some(text) = &element.text {
        escape(text, out);
    }
    for children in &element.children {
        match children {
            Children::One(child) => write(child, out),
            Children::Many(_, items) => items.iter().for_each(|item| write(item, out)),
        }
    }
    if out.len() == opened {
        out.truncate(start);
        out.push_str("/>");
    } else {
        out.push_str("</");
        out.push_str(&element.name);
        out.push('>');
    }
}

/// Text as XML can carry it: what XML has no way to write is left out.
pub(super) fn escape(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            control if control.is_control() => {}
            other => out.push(other),
        }
    }
}
