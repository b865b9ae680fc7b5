//! What is on a screen: a tree, as assistive technology sees it, from whatever the driver has.

mod nearest;
mod page;
mod refs;
mod told;
mod tree;

use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use nearest::nearest;
pub(crate) use page::of_page;
pub(crate) use refs::Refs;
pub(crate) use told::{Shown, View, lines, shown};
pub(crate) use tree::of_xml;

use crate::w3c::{ElementId, Locator, Rect, Strategy};

/// The most nodes that are read.
pub(crate) const MOST: usize = 2_000;
/// The most characters of a name or value.
pub(crate) const LONGEST: usize = 200;

/// Everything on a screen, parents before children.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Screen {
    pub(crate) nodes: Vec<Node>,
    /// Nodes that were there and were not read.
    pub(crate) cut: usize,
    /// The visible part, where the driver's tree says.
    pub(crate) size: Option<Rect>,
    /// What a page is called.
    pub(crate) title: String,
}

/// One element.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Node {
    /// Its place in the list of nodes.
    pub(crate) parent: Option<usize>,
    pub(crate) depth: usize,
    /// Such as `button`.
    pub(crate) role: String,
    /// What a person would read.
    pub(crate) name: String,
    /// What is looked for with the strategy `accessibility_id`.
    pub(crate) accessibility: String,
    /// What is looked for with the strategy `id`.
    pub(crate) id: String,
    pub(crate) value: String,
    pub(crate) rect: Rect,
    pub(crate) states: Vec<State>,
    pub(crate) is_interactive: bool,
    pub(crate) is_visible: bool,
    /// What a picker offers.
    pub(crate) options: Vec<String>,
    pub(crate) handle: Handle,
}

/// How the driver is told which element is meant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Handle {
    /// It named the element itself.
    Element(ElementId),
    /// By its path.
    Path(String),
}

impl Default for Handle {
    fn default() -> Handle {
        Handle::Path(String::new())
    }
}

/// What is special about an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    Disabled,
    Focused,
    Checked,
    Selected,
    Expanded,
    Offscreen,
}

impl State {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            State::Disabled => "disabled",
            State::Focused => "focused",
            State::Checked => "checked",
            State::Selected => "selected",
            State::Expanded => "expanded",
            State::Offscreen => "offscreen",
        }
    }
}

impl Node {
    /// Whether there is anything to say about it beyond that it holds others.
    pub(crate) fn is_telling(&self) -> bool {
        self.is_interactive
            || !self.name.is_empty()
            || !self.value.is_empty()
            || !self.accessibility.is_empty()
    }

    /// What makes it the same element on the next look: what developers called it, else what people read, else where it
    /// stands.
    fn identity(&self) -> String {
        let by = |kind: &str, value: &str| format!("{}\u{1f}{kind}\u{1f}{value}", self.role);
        if !self.id.is_empty() {
            by("id", &self.id)
        } else if !self.accessibility.is_empty() {
            by("accessibility", &self.accessibility)
        } else if !self.name.is_empty() {
            by("name", &self.name)
        } else {
            match &self.handle {
                Handle::Path(path) => by("path", path),
                Handle::Element(_) => by("depth", &self.depth.to_string()),
            }
        }
    }
}

impl Screen {
    /// How to look for a node again, on another day: a name that only it has, else its path.
    pub(crate) fn locator(&self, node: &Node) -> Option<Locator> {
        let only = |of: fn(&Node) -> &str| {
            let value = of(node);
            !value.is_empty() && self.nodes.iter().filter(|other| of(other) == value).count() == 1
        };
        if only(|node| &node.accessibility) {
            return Some(Locator::new(Strategy::AccessibilityId, &node.accessibility));
        }
        if only(|node| &node.id) {
            return Some(Locator::new(Strategy::Id, &node.id));
        }
        match &node.handle {
            Handle::Path(path) if !path.is_empty() => Some(Locator::new(Strategy::Xpath, path)),
            _ if !node.name.is_empty() => Some(Locator::new(Strategy::Text, &node.name)),
            _ => None,
        }
    }

    /// The first node with this text or label: exactly, then whatever the case.
    pub(crate) fn with_text(&self, wanted: &str) -> Option<&Node> {
        let fits = |node: &&Node, same: fn(&str, &str) -> bool| {
            same(&node.name, wanted) || same(&node.accessibility, wanted) || same(&node.value, wanted)
        };
        let exact = |a: &str, b: &str| a == b;
        let alike = |a: &str, b: &str| a.to_lowercase() == b.to_lowercase();
        let first = |same: fn(&str, &str) -> bool| {
            let all = || self.nodes.iter().filter(|node| fits(node, same));
            // What can be used goes before what can only be read, and what can be seen before what cannot.
            all().max_by_key(|node| (node.is_visible, node.is_interactive)).and_then(|best| {
                all().find(|node| {
                    (node.is_visible, node.is_interactive) == (best.is_visible, best.is_interactive)
                })
            })
        };
        first(exact).or_else(|| first(alike))
    }
}

/// Text of an app: on one line, without what could deceive a reader, and not too long.
pub(crate) fn tidy(text: &str) -> String {
    let mut kept = String::new();
    let mut gap = false;
    for c in text.chars() {
        if c.is_whitespace() {
            gap = !kept.is_empty();
        } else if !failwell_fault::is_deceptive(c) {
            if gap {
                kept.push(' ');
                gap = false;
            }
            kept.push(c);
        }
        if kept.chars().count() >= LONGEST {
            kept.push('…');
            break;
        }
    }
    kept
}
