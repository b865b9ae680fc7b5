use super::{Rect, Screen, TextStyle, UiElement, navigation_bar};
use crate::phone::app::{App, TouchAction};

/// How high one line of the wheel is, in points.
pub(crate) const LINE: i32 = 40;

pub(super) fn lay_out(screen: &mut Screen, window: usize, app: &App) {
    let width = screen.size.0;
    let row = |y: i32, height: i32| Rect::new(24, y, width - 48, height);
    let text = UiElement::new("StaticText", "order/hint", row(72, 28)).named("order-hint", "Size of the box");
    screen.push(Some(window), text.with_value("Size of the box").looks(TextStyle::Quiet));
    let wheel = row(104, 3 * LINE);
    let picker = screen
        .push(Some(window), UiElement::new("Picker", "order/picker", wheel).named("box-size", "Box size"));
    let node = UiElement::new("PickerWheel", "order/wheel", wheel).named("box-size-wheel", "Box size");
    screen.push(Some(picker), node.with_value(app.size_name()));
    // A finger above or below the middle turns the wheel; they are no elements of their own for people.
    for (key, y, by) in [("order/up", wheel.y, -1), ("order/down", wheel.y + 2 * LINE, 1)] {
        let half = UiElement::new("Other", key, Rect::new(wheel.x, y, wheel.width, LINE));
        screen.push(Some(picker), half.does(TouchAction::Turn(by)));
    }
    let button = UiElement::new("Button", "order/place", row(240, 44)).named("place-order", "Place order");
    screen.push(Some(window), button.does(TouchAction::Order));
    if let Some(status) = &app.status {
        let text = UiElement::new("StaticText", "order/status", row(292, 30)).named("order-status", status);
        screen.push(Some(window), text.with_value(status.as_str()));
    }
    navigation_bar(screen, window, "Order", None);
}
