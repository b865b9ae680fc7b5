use super::{Node, Rect, Screen};
use crate::app::Press;

pub(super) fn lay_out(screen: &mut Screen, window: usize) {
    let icon = Node::new("Icon", "home/pantry", Rect::new(32, 60, 72, 84)).named("Pantry", "Pantry");
    screen.push(Some(window), icon.does(Press::Launch));
}
