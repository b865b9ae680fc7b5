//! The screen for a model: one line per relevant element, and the same as objects.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{ElementState, Node, Screen};
use crate::w3c::Rect;

/// One element, as callers see it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "View")]
pub(crate) struct ElementView {
    /// Pass it as ref; the same element keeps it from look to look.
    #[serde(rename = "ref")]
    pub(crate) reference: String,
    /// Such as button, textfield, text.
    pub(crate) role: String,
    /// The visible text.
    pub(crate) name: String,
    /// The accessibility id, where it differs from the name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) accessibility_id: String,
    /// The platform's id.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) value: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) states: Vec<ElementState>,
    /// The choices of a picker.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) options: Vec<String>,
    pub(crate) rect: Rect,
    /// How deep it stands among the elements shown.
    pub(crate) depth: usize,
}

/// The elements to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ElementFilter {
    /// Interactive or readable elements that are visible.
    Meaningful,
    /// Interactive or readable elements, including those off the screen.
    Offscreen,
    /// All elements, including layout.
    All,
}

impl ElementView {
    pub(crate) fn new(node: &Node, reference: String, depth: usize) -> ElementView {
        let accessibility_id =
            if node.accessibility == node.name { String::new() } else { node.accessibility.clone() };
        ElementView {
            reference,
            role: node.role.clone(),
            name: node.name.clone(),
            accessibility_id,
            id: node.id.clone(),
            value: node.value.clone(),
            states: node.states.clone(),
            options: node.options.clone(),
            rect: node.rect,
            depth,
        }
    }

    /// `e3 button "Log in" #login (disabled)`
    pub(crate) fn line(&self) -> String {
        let mut line = format!("{} {}", self.reference, self.role);
        if !self.name.is_empty() {
            line.push_str(&format!(" \"{}\"", self.name));
        }
        if !self.accessibility_id.is_empty() {
            line.push_str(&format!(" ~{}", self.accessibility_id));
        }
        if !self.id.is_empty() {
            line.push_str(&format!(" #{}", self.id));
        }
        if !self.value.is_empty() && self.value != self.name {
            line.push_str(&format!(" = \"{}\"", self.value));
        }
        if !self.states.is_empty() {
            let states: Vec<&str> = self.states.iter().map(|state| state.as_str()).collect();
            line.push_str(&format!(" ({})", states.join(", ")));
        }
        line
    }
}

/// The selected elements up to a maximum, and the number of further ones.
pub(crate) fn select_views(
    screen: &Screen,
    references: &HashMap<usize, String>,
    which: ElementFilter,
    most: usize,
) -> (Vec<ElementView>, usize) {
    let mut views = Vec::new();
    let mut left_out = 0;
    // The depth of each node among the selected ones.
    let mut depths: Vec<usize> = Vec::with_capacity(screen.nodes.len());
    for (index, node) in screen.nodes.iter().enumerate() {
        let above = node.parent.and_then(|parent| depths.get(parent).copied()).unwrap_or(0);
        let is_shown = match which {
            ElementFilter::Meaningful => node.is_meaningful() && node.is_visible,
            ElementFilter::Offscreen => node.is_meaningful(),
            ElementFilter::All => true,
        };
        depths.push(if is_shown { above + 1 } else { above });
        if !is_shown {
            continue;
        }
        if views.len() >= most {
            left_out += 1;
            continue;
        }
        let reference = references.get(&index).cloned().unwrap_or_default();
        views.push(ElementView::new(node, reference, above));
    }
    (views, left_out)
}

/// Text of the app in a code fence that it cannot close.
pub(crate) fn lines(views: &[ElementView]) -> String {
    let each = views.iter().map(|view| format!("{}{}", "  ".repeat(view.depth.min(20)), view.line()));
    format!("```\n{}\n```", each.collect::<Vec<_>>().join("\n").replace('`', "'"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{ElementFilter, lines, select_views};
    use crate::screen::{ElementState, Node, Screen};

    #[test]
    fn layout_is_left_out_and_the_rest_moves_up() {
        let node = |parent, role: &str, name: &str| Node {
            parent,
            role: role.into(),
            name: name.into(),
            is_visible: true,
            ..Node::default()
        };
        let mut button = node(Some(1), "button", "Log `in`");
        button.states = vec![ElementState::Disabled];
        button.id = "login".into();
        let screen = Screen {
            nodes: vec![node(None, "window", "Shop"), node(Some(0), "other", ""), button],
            ..Screen::default()
        };
        let references: HashMap<usize, String> = (0..3).map(|index| (index, format!("e{index}"))).collect();
        let (views, left_out) = select_views(&screen, &references, ElementFilter::Meaningful, 10);
        assert_eq!(left_out, 0);
        assert_eq!(lines(&views), "```\ne0 window \"Shop\"\n  e2 button \"Log 'in'\" #login (disabled)\n```");
        let (views, left_out) = select_views(&screen, &references, ElementFilter::All, 1);
        assert_eq!((views.len(), left_out), (1, 2));
    }
}
