//! The elements on a screen: one accessibility tree for every driver.

mod nearest;
mod page;
mod refs;
mod tree;
mod view;

use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use nearest::nearest;
pub(crate) use page::parse_page;
pub(crate) use refs::ElementRefs;
pub(crate) use tree::parse_xml;
pub(crate) use view::{ElementFilter, ElementView, lines, select_views};

use crate::w3c::{ElementId, Locator, Rect, Strategy};

/// Maximum number of nodes.
pub(crate) const MOST: usize = 2_000;
/// Maximum number of characters of a name or value.
pub(crate) const LONGEST: usize = 200;

/// The whole screen, parents before children.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Screen {
    pub(crate) nodes: Vec<Node>,
    /// Number of nodes that were not read.
    pub(crate) cut: usize,
    /// The visible area, if the driver's tree has it.
    pub(crate) size: Option<Rect>,
    /// The title of a page.
    pub(crate) title: String,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Node {
    /// The index of the parent node.
    pub(crate) parent: Option<usize>,
    pub(crate) depth: usize,
    /// The role, such as `button`.
    pub(crate) role: String,
    /// The visible text.
    pub(crate) name: String,
    /// The value that the strategy `accessibility_id` matches.
    pub(crate) accessibility: String,
    /// The value that the strategy `id` matches.
    pub(crate) id: String,
    pub(crate) value: String,
    pub(crate) rect: Rect,
    pub(crate) states: Vec<ElementState>,
    pub(crate) is_interactive: bool,
    pub(crate) is_visible: bool,
    /// The values of a picker.
    pub(crate) options: Vec<String>,
    pub(crate) handle: ElementHandle,
}

/// The driver's identification of an element.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ElementHandle {
    /// By the driver's element id.
    Element(ElementId),
    /// By its path.
    Path(String),
}

impl Default for ElementHandle {
    fn default() -> ElementHandle {
        ElementHandle::Path(String::new())
    }
}

/// The special states of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "State")]
pub(crate) enum ElementState {
    Disabled,
    Focused,
    Checked,
    Selected,
    Expanded,
    Offscreen,
}

impl ElementState {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            ElementState::Disabled => "disabled",
            ElementState::Focused => "focused",
            ElementState::Checked => "checked",
            ElementState::Selected => "selected",
            ElementState::Expanded => "expanded",
            ElementState::Offscreen => "offscreen",
        }
    }
}

impl Node {
    /// Whether a node is more than a container.
    pub(crate) fn is_meaningful(&self) -> bool {
        self.is_interactive
            || !self.name.is_empty()
            || !self.value.is_empty()
            || !self.accessibility.is_empty()
    }

    /// The key that identifies an element across looks: its id, otherwise its label, otherwise its position.
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
                ElementHandle::Path(path) => by("path", path),
                ElementHandle::Element(_) => by("depth", &self.depth.to_string()),
            }
        }
    }
}

impl Screen {
    /// A locator for a later session: a name that only this node has, otherwise its path.
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
            ElementHandle::Path(path) if !path.is_empty() => Some(Locator::new(Strategy::Xpath, path)),
            _ if !node.name.is_empty() => Some(Locator::new(Strategy::Text, &node.name)),
            _ => None,
        }
    }

    /// The first node with this text or label: exactly, then ignoring case.
    pub(crate) fn with_text(&self, wanted: &str) -> Option<&Node> {
        let fits = |node: &&Node, same: fn(&str, &str) -> bool| {
            same(&node.name, wanted) || same(&node.accessibility, wanted) || same(&node.value, wanted)
        };
        let exact = |a: &str, b: &str| a == b;
        let alike = |a: &str, b: &str| a.to_lowercase() == b.to_lowercase();
        let first = |same: fn(&str, &str) -> bool| {
            let all = || self.nodes.iter().filter(|node| fits(node, same));
            // Visible nodes have precedence over invisible ones, then interactive nodes over static ones.
            all().max_by_key(|node| (node.is_visible, node.is_interactive)).and_then(|best| {
                all().find(|node| {
                    (node.is_visible, node.is_interactive) == (best.is_visible, best.is_interactive)
                })
            })
        };
        first(exact).or_else(|| first(alike))
    }
}

/// Text of an app: on one line, without deceptive characters, shortened.
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
