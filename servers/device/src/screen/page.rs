//! The tree of a page, listed by a script. The list has the elements themselves, so no second search is
//! needed.

use serde::Deserialize;
use serde_json::Value;

use super::{ElementHandle, ElementState, Node, Screen, tidy};
use crate::w3c::{DriverError, ElementId, Rect};

#[derive(Deserialize)]
struct Page {
    width: f64,
    height: f64,
    title: String,
    nodes: Vec<PageNode>,
    cut: usize,
}

#[derive(Deserialize)]
struct PageNode {
    parent: i64,
    role: String,
    name: String,
    id: String,
    test: String,
    value: String,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    interactive: bool,
    enabled: bool,
    focused: bool,
    checked: bool,
    selected: bool,
    expanded: bool,
    options: Vec<String>,
    element: Value,
}

/// Parses the output of the script.
pub(crate) fn parse_page(listed: &Value) -> Result<Screen, DriverError> {
    let invalid = || DriverError::InvalidResponse { why: "a page that cannot be read", body: Vec::new() };
    let page = Page::deserialize(listed).map_err(|_| invalid())?;
    let size = Rect { x: 0.0, y: 0.0, width: page.width, height: page.height };
    let mut nodes: Vec<Node> = Vec::with_capacity(page.nodes.len());
    for listed in page.nodes {
        let parent = usize::try_from(listed.parent).ok();
        let depth = parent.and_then(|parent| nodes.get(parent)).map_or(0, |parent| parent.depth + 1);
        let element = ElementId::parse(&listed.element).ok_or_else(invalid)?;
        nodes.push(read(listed, parent, depth, element, size));
    }
    Ok(Screen { nodes, cut: page.cut, size: Some(size), title: tidy(&page.title) })
}

fn read(listed: PageNode, parent: Option<usize>, depth: usize, element: ElementId, size: Rect) -> Node {
    let rect = Rect { x: listed.x, y: listed.y, width: listed.width, height: listed.height };
    let is_visible = rect.is_centered_in(size);
    let states = [
        (!listed.enabled, ElementState::Disabled),
        (listed.focused, ElementState::Focused),
        (listed.checked, ElementState::Checked),
        (listed.selected, ElementState::Selected),
        (listed.expanded, ElementState::Expanded),
        (!is_visible, ElementState::Offscreen),
    ];
    let name = tidy(&listed.name);
    Node {
        parent,
        depth,
        role: tidy(&listed.role),
        // Static elements are found by their text.
        accessibility: match (listed.test.is_empty(), listed.interactive) {
            (false, _) => tidy(&listed.test),
            (true, true) => name.clone(),
            (true, false) => String::new(),
        },
        name,
        id: tidy(&listed.id),
        value: tidy(&listed.value),
        rect,
        states: states.into_iter().filter(|(holds, _)| *holds).map(|(_, state)| state).collect(),
        is_interactive: listed.interactive,
        is_visible,
        options: listed.options.iter().map(|option| tidy(option)).collect(),
        handle: ElementHandle::Element(element),
    }
}
