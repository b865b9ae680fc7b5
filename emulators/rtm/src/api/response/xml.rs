//! The answer as XML, the service's own format.

use failwell_emulator_http::escape_markup;

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
    out.extend(escape_markup(text).chars().filter(|character| !character.is_control()));
}
