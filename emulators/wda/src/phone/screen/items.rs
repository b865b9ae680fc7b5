use super::{Rect, Screen, TextStyle, UiElement, navigation_bar};
use crate::phone::app::{App, ROW, TouchAction};

/// Where the list is, on a screen of this size.
pub(crate) fn list_view((width, height): (i32, i32)) -> Rect {
    Rect::new(0, 64, width, height - 64 - 49)
}

pub(super) fn lay_out(screen: &mut Screen, window: usize, app: &App) {
    match &app.open {
        Some(name) => lay_out_item(screen, window, app, name),
        None => list(screen, window, app),
    }
}

fn list(screen: &mut Screen, window: usize, app: &App) {
    let view = list_view(screen.size);
    let table = screen.push(Some(window), UiElement::new("Table", "items", view).named("items", "Items"));
    let mut y = view.y - app.scroll;
    for name in &app.goods {
        let rect = Rect::new(0, y, view.width, ROW);
        let cell = UiElement::new("Cell", format!("items/{name}"), rect).named(&format!("item-{name}"), name);
        let cell = screen.push(Some(table), cell.does(TouchAction::Open(name.clone())));
        let text = UiElement::new(
            "StaticText",
            format!("items/{name}/text"),
            Rect::new(16, y, view.width - 32, ROW),
        );
        screen.push(Some(cell), text.named(name, name).with_value(name));
        y += ROW;
    }
    navigation_bar(screen, window, "Items", None);
}

fn lay_out_item(screen: &mut Screen, window: usize, app: &App, name: &str) {
    let width = screen.size.0;
    let row = |y: i32, height: i32| Rect::new(24, y, width - 48, height);
    let key = |part: &str| format!("item/{name}/{part}");
    let text =
        UiElement::new("StaticText", key("name"), row(84, 40)).named("item-name", name).with_value(name);
    screen.push(Some(window), text.looks(TextStyle::Title));
    let count = format!("In the basket: {}", app.basket);
    let text = UiElement::new("StaticText", key("basket"), row(130, 30)).named("basket-count", &count);
    screen.push(Some(window), text.with_value(count.as_str()));
    let button = UiElement::new("Button", key("add"), row(176, 44)).named("add-to-basket", "Add to basket");
    screen.push(Some(window), button.does(TouchAction::Add));
    navigation_bar(screen, window, name, Some("Items"));
}
