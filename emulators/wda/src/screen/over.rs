//! What lies over the page: tabs, the keyboard, an alert.

use super::{Look, Node, Rect, Screen};
use crate::app::{Alert, Press, Tab};

/// How high the keyboard is, in points.
const KEYBOARD: i32 = 216;
/// How wide an alert is, in points.
const ALERT: i32 = 270;

pub(super) fn tab_bar(screen: &mut Screen, window: usize, current: Tab) {
    let (width, height) = screen.size;
    let bar = Node::new("TabBar", "tabs", Rect::new(0, height - 49, width, 49)).named("Tab Bar", "Tab Bar");
    let bar = screen.push(Some(window), bar);
    let each = width / 3;
    for (place, tab) in (0i32..).zip(Tab::ALL) {
        let rect = Rect::new(place * each, height - 49, each, 49);
        let button = Node::new("Button", format!("tabs/{}", tab.title()), rect);
        let button = button.named(&format!("tab-{}", tab.title().to_lowercase()), tab.title());
        screen.push(Some(bar), Node { selected: tab == current, ..button.does(Press::Select(tab)) });
    }
}

pub(super) fn keyboard(screen: &mut Screen, window: usize) {
    let (width, height) = screen.size;
    let top = height - KEYBOARD.min(height / 2);
    let board = Node::new("Keyboard", "keyboard", Rect::new(0, top, width, height - top));
    let board = screen.push(Some(window), board.named("keyboard", "Keyboard"));
    let key = Node::new("Button", "keyboard/return", Rect::new(width - 100, height - 48, 96, 44));
    screen.push(Some(board), key.named("Return", "return").does(Press::Return));
}

pub(super) fn alert(screen: &mut Screen, root: usize, alert: &Alert) {
    let (width, height) = screen.size;
    let (left, top) = ((width - ALERT) / 2, (height - 150) / 2);
    let node = Node::new("Alert", format!("alert/{}", alert.title), Rect::new(left, top, ALERT, 150));
    let parent = screen.push(Some(root), node.named(&alert.title, &alert.title));
    let mut text = |key: &str, y: i32, height: i32, text: &str, look: Look| {
        let rect = Rect::new(left + 8, top + y, ALERT - 16, height);
        let node = Node::new("StaticText", format!("alert/{}/{key}", alert.title), rect);
        screen.push(Some(parent), node.named(text, text).with_value(text).looks(look));
    };
    text("title", 8, 56, &alert.title, Look::Title);
    if !alert.message.is_empty() {
        text("message", 66, 30, &alert.message, Look::Plain);
    }
    let each = ALERT / i32::try_from(alert.buttons.len().max(1)).unwrap_or(1);
    for (place, (index, label)) in (0i32..).zip(alert.buttons.iter().enumerate()) {
        let rect = Rect::new(left + place * each, top + 106, each, 44);
        let button = Node::new("Button", format!("alert/{}/{label}", alert.title), rect).named(label, label);
        screen.push(Some(parent), button.does(Press::Answer(index)).looks(Look::Quiet));
    }
}
