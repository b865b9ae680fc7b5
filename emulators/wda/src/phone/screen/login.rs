use super::{Rect, Screen, TextStyle, UiElement};
use crate::phone::app::{App, Field, TouchAction};

pub(super) fn lay_out(screen: &mut Screen, window: usize, app: &App) {
    let (width, height) = screen.size;
    // Held sideways there is less room above the keyboard.
    let top = if height > width { 90 } else { 24 };
    let row = |y: i32, height: i32| Rect::new(24, top + y, width - 48, height);
    let title =
        UiElement::new("StaticText", "login/title", row(0, 40)).named("title", "Pantry").with_value("Pantry");
    screen.push(Some(window), title.looks(TextStyle::Title));
    field(screen, window, app, Field::Username, row(60, 40));
    field(screen, window, app, Field::Password, row(112, 40));
    let button = UiElement::new("Button", "login/submit", row(168, 44))
        .named("log-in", "Log in")
        .does(TouchAction::LogIn);
    screen.push(Some(window), UiElement { enabled: app.can_log_in(), ..button });
    if let Some(message) = app.message {
        let text =
            UiElement::new("StaticText", "login/message", row(220, 30)).named("login-message", message);
        screen.push(Some(window), text.with_value(message).looks(TextStyle::Danger));
    }
}

fn field(screen: &mut Screen, window: usize, app: &App, field: Field, rect: Rect) {
    let (kind, key, name, label, text) = match field {
        Field::Username => ("TextField", "login/username", "username", "Name", app.username.clone()),
        // A phone shows what was typed as dots, to tests too.
        Field::Password => (
            "SecureTextField",
            "login/password",
            "password",
            "Password",
            "*".repeat(app.password.chars().count()),
        ),
    };
    let node = UiElement::new(kind, key, rect).named(name, label).does(TouchAction::Focus(field));
    let value = if text.is_empty() { label.to_owned() } else { text };
    let selected = app.focus == Some(field);
    screen.push(Some(window), UiElement { placeholder: Some(label), selected, ..node.with_value(value) });
}
