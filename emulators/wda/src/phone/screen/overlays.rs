//! Overlays of the page: tabs, the keyboard, an alert.

use super::{Rect, Screen, TextStyle, UiElement};
use crate::phone::app::{Alert, Tab, TouchAction};

/// How high the keyboard is, in points.
const KEYBOARD: i32 = 216;
/// How wide an alert is, in points.
const ALERT: i32 = 270;

pub(super) fn tab_bar(screen: &mut Screen, window: usize, current: Tab) {
    let (width, height) = screen.size;
    let bar =
        UiElement::new("TabBar", "tabs", Rect::new(0, height - 49, width, 49)).named("Tab Bar", "Tab Bar");
    let bar = screen.push(Some(window), bar);
    let each = width / 3;
    for (place, tab) in (0i32..).zip(Tab::ALL) {
        let rect = Rect::new(place * each, height - 49, each, 49);
        let button = UiElement::new("Button", format!("tabs/{}", tab.title()), rect);
        let button = button.named(&format!("tab-{}", tab.title().to_lowercase()), tab.title());
        screen
            .push(Some(bar), UiElement { selected: tab == current, ..button.does(TouchAction::Select(tab)) });
    }
}

pub(super) fn keyboard(screen: &mut Screen, window: usize) {
    let (width, height) = screen.size;
    let top = height - KEYBOARD.min(height / 2);
    let board = UiElement::new("Keyboard", "keyboard", Rect::new(0, top, width, height - top));
    let board = screen.push(Some(window), board.named("keyboard", "Keyboard"));
    let key = UiElement::new("Button", "keyboard/return", Rect::new(width - 100, height - 48, 96, 44));
    screen.push(Some(board), key.named("Return", "return").does(TouchAction::Return));
}

pub(super) fn alert(screen: &mut Screen, root: usize, alert: &Alert) {
    let (width, height) = screen.size;
    let (left, top) = ((width - ALERT) / 2, (height - 150) / 2);
    let node = UiElement::new("Alert", format!("alert/{}", alert.title), Rect::new(left, top, ALERT, 150));
    let parent = screen.push(Some(root), node.named(&alert.title, &alert.title));
    let mut text = |key: &str, y: i32, height: i32, text: &str, look: TextStyle| {
        let rect = Rect::new(left + 8, top + y, ALERT - 16, height);
        let node = UiElement::new("StaticText", format!("alert/{}/{key}", alert.title), rect);
        screen.push(Some(parent), node.named(text, text).with_value(text).looks(look));
    };
    text("title", 8, 56, &alert.title, TextStyle::Title);
    if !alert.message.is_empty() {
        text("message", 66, 30, &alert.message, TextStyle::Plain);
    }
    let each = ALERT / i32::try_from(alert.buttons.len().max(1)).unwrap_or(1);
    for (place, (index, label)) in (0i32..).zip(alert.buttons.iter().enumerate()) {
        let rect = Rect::new(left + place * each, top + 106, each, 44);
        let button =
            UiElement::new("Button", format!("alert/{}/{label}", alert.title), rect).named(label, label);
        screen.push(Some(parent), button.does(TouchAction::Answer(index)).looks(TextStyle::Quiet));
    }
}
