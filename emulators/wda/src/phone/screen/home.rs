use super::{Rect, Screen, UiElement};
use crate::phone::app::TouchAction;

pub(super) fn lay_out(screen: &mut Screen, window: usize) {
    let icon = UiElement::new("Icon", "home/pantry", Rect::new(32, 60, 72, 84)).named("Pantry", "Pantry");
    screen.push(Some(window), icon.does(TouchAction::Launch));
}
