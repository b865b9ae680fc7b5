//! A screen for a model: one line for each element worth naming, and the same as objects.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Node, Screen, State};
use crate::w3c::Rect;

/// One element, as callers see it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct View {
    /// Pass it as ref; the same element keeps it from look to look.
    #[serde(rename = "ref")]
    pub(crate) reference: String,
    /// Such as button, textfield, text.
    pub(crate) role: String,
    /// What a person reads.
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
    pub(crate) states: Vec<State>,
    /// What a picker offers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) options: Vec<String>,
    pub(crate) rect: Rect,
    /// How deep it stands among the elements shown.
    pub(crate) depth: usize,
}

/// Which elements are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Those that can be touched or read, and are on the screen.
    Telling,
    /// Those that can be touched or read, wherever they are.
    Offscreen,
    /// All of them, layout included.
    All,
}

impl View {
    pub(crate) fn of(node: &Node, reference: String, depth: usize) -> View {
        let accessibility_id =
            if node.accessibility == node.name { String::new() } else { node.accessibility.clone() };
        View {
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

/// The elements worth showing, up to a number, and how many more there are.
pub(crate) fn shown(
    screen: &Screen,
    references: &HashMap<usize, String>,
    which: Shown,
    most: usize,
) -> (Vec<View>, usize) {
    let mut views = Vec::new();
    let mut left_out = 0;
    // How deep each node stands among those shown.
    let mut depths: Vec<usize> = Vec::with_capacity(screen.nodes.len());
    for (index, node) in screen.nodes.iter().enumerate() {
        let above = node.parent.and_then(|parent| depths.get(parent).copied()).unwrap_or(0);
        let is_shown = match which {
            Shown::Telling => node.is_telling() && node.is_visible,
            Shown::Offscreen => node.is_telling(),
            Shown::All => true,
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
        views.push(View::of(node, reference, above));
    }
    (views, left_out)
}

/// The words of an app, between fences they cannot break out of.
pub(crate) fn lines(views: &[View]) -> String {
    let each = views.iter().map(|view| format!("{}{}", "  ".repeat(view.depth.min(20)), view.line()));
    format!("```\n{}\n```", each.collect::<Vec<_>>().join("\n").replace('`', "'"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{Shown, lines, shown};
    use crate::screen::{Node, Screen, State};

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
        button.states = vec![State::Disabled];
        button.id = "login".into();
        let screen = Screen {
            nodes: vec![node(None, "window", "Shop"), node(Some(0), "other", ""), button],
            ..Screen::default()
        };
        let references: HashMap<usize, String> = (0..3).map(|index| (index, format!("e{index}"))).collect();
        let (views, left_out) = shown(&screen, &references, Shown::Telling, 10);
        assert_eq!(left_out, 0);
        assert_eq!(lines(&views), "```\ne0 window \"Shop\"\n  e2 button \"Log 'in'\" #login (disabled)\n```");
        let (views, left_out) = shown(&screen, &references, Shown::All, 1);
        assert_eq!((views.len(), left_out), (1, 2));
    }
}
