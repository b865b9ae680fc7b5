//! The screen: one tree of elements, made from the state of the phone.

mod account;
mod attribute;
mod home;
mod items;
mod login;
mod order;
mod overlays;

use super::app::{AppLife, Tab, TouchAction};
use super::device::Device;

pub(crate) use attribute::{Attribute, attribute};
pub(crate) use items::list_view;
pub(crate) use order::LINE;

/// A place on the screen, in points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rect {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) width: i32,
    pub(crate) height: i32,
}

impl Rect {
    pub(crate) fn new(x: i32, y: i32, width: i32, height: i32) -> Rect {
        Rect { x, y, width, height }
    }

    pub(crate) fn contains(self, x: i32, y: i32) -> bool {
        (self.x..self.x + self.width).contains(&x) && (self.y..self.y + self.height).contains(&y)
    }

    pub(crate) fn centre(self) -> (i32, i32) {
        (self.x + self.width / 2, self.y + self.height / 2)
    }

    fn overlaps(self, other: Rect) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }
}

/// How a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextStyle {
    Plain,
    Title,
    Quiet,
    Danger,
}

#[derive(Debug, Clone)]
pub(crate) struct UiElement {
    /// Its type, without the prefix all types have.
    pub(crate) kind: &'static str,
    /// Its identity in the app, independent of its place on the screen.
    pub(crate) key: String,
    pub(crate) name: Option<String>,
    pub(crate) label: Option<String>,
    pub(crate) value: Option<String>,
    pub(crate) placeholder: Option<&'static str>,
    pub(crate) rect: Rect,
    pub(crate) enabled: bool,
    pub(crate) visible: bool,
    pub(crate) selected: bool,
    pub(crate) look: TextStyle,
    pub(crate) press: Option<TouchAction>,
    pub(crate) parent: Option<usize>,
    pub(crate) children: Vec<usize>,
}

impl UiElement {
    pub(crate) fn new(kind: &'static str, key: impl Into<String>, rect: Rect) -> UiElement {
        UiElement {
            kind,
            key: key.into(),
            name: None,
            label: None,
            value: None,
            placeholder: None,
            rect,
            enabled: true,
            visible: true,
            selected: false,
            look: TextStyle::Plain,
            press: None,
            parent: None,
            children: vec![],
        }
    }

    /// The accessibility id, and what is read aloud.
    pub(crate) fn named(self, name: &str, label: &str) -> UiElement {
        UiElement { name: Some(name.to_owned()), label: Some(label.to_owned()), ..self }
    }

    pub(crate) fn with_value(self, value: impl Into<String>) -> UiElement {
        UiElement { value: Some(value.into()), ..self }
    }

    pub(crate) fn does(self, press: TouchAction) -> UiElement {
        UiElement { press: Some(press), ..self }
    }

    pub(crate) fn looks(self, look: TextStyle) -> UiElement {
        UiElement { look, ..self }
    }

    pub(crate) fn type_name(&self) -> String {
        format!("XCUIElementType{}", self.kind)
    }

    /// Whether it is something for people, not only a box around such.
    pub(crate) fn is_accessible(&self) -> bool {
        !matches!(
            self.kind,
            "Application" | "Window" | "Table" | "NavigationBar" | "TabBar" | "Alert" | "Picker" | "Keyboard"
        )
    }
}

/// All elements, the application first, every parent before its children.
#[derive(Debug, Clone)]
pub(crate) struct Screen {
    pub(crate) nodes: Vec<UiElement>,
    pub(crate) size: (i32, i32),
}

impl Screen {
    /// The current screen of the phone.
    pub(crate) fn new(device: &Device) -> Screen {
        let (width, height) = device.size();
        let whole = Rect::new(0, 0, width, height);
        let (_, name, _) = device.front();
        let mut screen = Screen { nodes: vec![], size: device.size() };
        let root = screen.push(None, UiElement::new("Application", name, whole).named(name, name));
        let window = screen.push(Some(root), UiElement::new("Window", format!("{name}/window"), whole));
        let app = &device.app;
        if app.life != AppLife::Foreground {
            home::lay_out(&mut screen, window);
        } else if app.user.is_none() {
            login::lay_out(&mut screen, window, app);
        } else {
            match app.tab {
                Tab::Items => items::lay_out(&mut screen, window, app),
                Tab::Order => order::lay_out(&mut screen, window, app),
                Tab::Account => account::lay_out(&mut screen, window, app),
            }
            overlays::tab_bar(&mut screen, window, app.tab);
        }
        if app.focus.is_some() && app.life == AppLife::Foreground {
            overlays::keyboard(&mut screen, window);
        }
        if let Some(alert) = &app.alert {
            overlays::alert(&mut screen, root, alert);
        }
        screen.mark_visible(whole);
        screen
    }

    pub(crate) fn push(&mut self, parent: Option<usize>, node: UiElement) -> usize {
        let index = self.nodes.len();
        self.nodes.push(UiElement { parent, ..node });
        if let Some(parent) = parent.and_then(|parent| self.nodes.get_mut(parent)) {
            parent.children.push(index);
        }
        index
    }

    pub(crate) fn node(&self, index: usize) -> Option<&UiElement> {
        self.nodes.get(index)
    }

    pub(crate) fn by_key(&self, key: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.key == key)
    }

    /// All below an element, in the order of the source.
    pub(crate) fn below(&self, index: usize) -> Vec<usize> {
        let mut found = vec![];
        let mut left: Vec<usize> = self.children(index).iter().rev().copied().collect();
        while let Some(next) = left.pop() {
            found.push(next);
            left.extend(self.children(next).iter().rev());
        }
        found
    }

    pub(crate) fn children(&self, index: usize) -> &[usize] {
        self.node(index).map_or(&[], |node| &node.children)
    }

    /// The alert that is in the way, if there is one.
    pub(crate) fn alert(&self) -> Option<usize> {
        self.nodes.iter().position(|node| node.kind == "Alert")
    }

    /// Whether an element is behind an alert.
    pub(crate) fn is_covered(&self, index: usize) -> bool {
        self.alert().is_some_and(|alert| index != alert && !self.below(alert).contains(&index))
    }

    /// The element a finger hits at this point. Behind an alert there is none.
    pub(crate) fn hit(&self, x: i32, y: i32) -> Option<&UiElement> {
        let from = self.alert();
        let hittable = |(index, node): &(usize, &UiElement)| {
            let reachable = from.is_none_or(|alert| self.below(alert).contains(index));
            reachable && node.visible && node.press.is_some() && node.rect.contains(x, y)
        };
        // Later elements lie above earlier ones.
        let found = self.nodes.iter().enumerate().rfind(hittable).map(|(_, node)| node);
        let bar = self.nodes.iter().rfind(|node| is_bar(node) && node.rect.contains(x, y));
        match (found, bar) {
            (Some(node), Some(bar)) if from.is_none() && !node.key.starts_with(&bar.key) => None,
            _ => found.filter(|node| node.enabled),
        }
    }

    /// Whether something that scrolls is there.
    pub(crate) fn scrolls_at(&self, x: i32, y: i32) -> bool {
        let table = |node: &UiElement| node.kind == "Table" && node.rect.contains(x, y);
        self.alert().is_none() && self.nodes.iter().any(table)
    }

    fn mark_visible(&mut self, whole: Rect) {
        let tables: Vec<(usize, Rect)> = self
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| node.kind == "Table")
            .map(|(index, node)| (index, node.rect))
            .collect();
        for (table, view) in tables {
            for inside in self.below(table) {
                if let Some(node) = self.nodes.get_mut(inside) {
                    node.visible &= node.rect.overlaps(view);
                }
            }
        }
        for node in &mut self.nodes {
            node.visible &= node.rect.overlaps(whole);
        }
    }
}

/// Bars lie over the list: a finger on one does not reach the row below it.
fn is_bar(node: &UiElement) -> bool {
    matches!(node.kind, "NavigationBar" | "TabBar" | "Keyboard")
}

/// The bar at the top of a page, with its title and perhaps a way back.
fn navigation_bar(screen: &mut Screen, parent: usize, title: &str, back: Option<&str>) {
    let width = screen.size.0;
    let bar = UiElement::new("NavigationBar", "bar", Rect::new(0, 20, width, 44)).named(title, title);
    let bar = screen.push(Some(parent), bar);
    let text = UiElement::new("StaticText", format!("bar/title/{title}"), Rect::new(90, 20, width - 180, 44));
    screen.push(Some(bar), text.named(title, title).with_value(title).looks(TextStyle::Title));
    if let Some(back) = back {
        let button = UiElement::new("Button", "bar/back", Rect::new(4, 24, 84, 36)).named("Back", back);
        screen.push(Some(bar), button.does(TouchAction::Back).looks(TextStyle::Quiet));
    }
}
