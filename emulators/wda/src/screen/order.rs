use super::{Look, Node, Rect, Screen, navigation_bar};
use crate::app::{App, Press};

/// How high one line of the wheel is, in points.
pub(crate) const LINE: i32 = 40;

pub(super) fn lay_out(screen: &mut Screen, window: usize, app: &App) {
    let width = screen.size.0;
    let row = |y: i32, height: i32| Rect::new(24, y, width - 48, height);
    let text = Node::new("StaticText", "order/hint", row(72, 28)).named("order-hint", "Size of the box");
    screen.push(Some(window), text.with_value("Size of the box").looks(Look::Quiet));
    let wheel = row(104, 3 * LINE);
    let picker =
        screen.push(Some(window), Node::new("Picker", "order/picker", wheel).named("box-size", "Box size"));
    let node = Node::new("PickerWheel", "order/wheel", wheel).named("box-size-wheel", "Box size");
    screen.push(Some(picker), node.with_value(app.size_name()));
    // A finger above or below the middle turns the wheel; they are no elements of their own for people.
    for (key, y, by) in [("order/up", wheel.y, -1), ("order/down", wheel.y + 2 * LINE, 1)] {
        let half = Node::new("Other", key, Rect::new(wheel.x, y, wheel.width, LINE));
        screen.push(Some(picker), half.does(Press::Turn(by)));
    }
    let button = Node::new("Button", "order/place", row(240, 44)).named("place-order", "Place order");
    screen.push(Some(window), button.does(Press::Order));
    if let Some(status) = &app.status {
        let text = Node::new("StaticText", "order/status", row(292, 30)).named("order-status", status);
        screen.push(Some(window), text.with_value(status.as_str()));
    }
    navigation_bar(screen, window, "Order", None);
}
