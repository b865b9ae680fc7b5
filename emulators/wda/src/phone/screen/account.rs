use super::{Rect, Screen, UiElement, navigation_bar};
use crate::phone::app::{App, TouchAction};

pub(super) fn lay_out(screen: &mut Screen, window: usize, app: &App) {
    let width = screen.size.0;
    let row = |y: i32, height: i32| Rect::new(24, y, width - 48, height);
    let greeting = format!("Hello, {}", app.user.as_deref().unwrap_or_default());
    let text = UiElement::new("StaticText", "account/greeting", row(84, 30)).named("greeting", &greeting);
    screen.push(Some(window), text.with_value(greeting.as_str()));
    let text = UiElement::new("StaticText", "account/notifications/label", row(130, 32));
    screen.push(Some(window), text.named("Notifications", "Notifications").with_value("Notifications"));
    let switch = UiElement::new("Switch", "account/notifications", Rect::new(width - 24 - 52, 130, 52, 32));
    let switch = switch.named("notifications", "Notifications").does(TouchAction::Notifications);
    let value = if app.notifications { "1" } else { "0" };
    screen.push(Some(window), UiElement { selected: app.notifications, ..switch.with_value(value) });
    let button = UiElement::new("Button", "account/log-out", row(190, 44)).named("log-out", "Log out");
    screen.push(Some(window), button.does(TouchAction::LogOut));
    navigation_bar(screen, window, "Account", None);
}
