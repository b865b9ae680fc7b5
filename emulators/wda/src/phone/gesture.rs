//! Touch gestures.

mod actions;

use super::app::{AppLife, ROW, Tab, TouchAction};
use super::device::Device;
use super::screen::{LINE, list_view};
use crate::assumed::{LONG_PRESS, SWIPE_SHARE};
use crate::webdriver::webdriver_error::WebDriverError;

pub(crate) use actions::perform;

/// How far a finger may move and still only touch, in points.
const STILL: i32 = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Up,
    Down,
    Left,
    Right,
}

impl Direction {
    pub(crate) fn read(text: &str) -> Result<Direction, WebDriverError> {
        match text.to_lowercase().as_str() {
            "up" => Ok(Direction::Up),
            "down" => Ok(Direction::Down),
            "left" => Ok(Direction::Left),
            "right" => Ok(Direction::Right),
            other => Err(WebDriverError::invalid_argument(format!("Unsupported swipe direction '{other}'"))),
        }
    }

    /// One step that way, on the screen.
    fn step(self) -> (i32, i32) {
        match self {
            Direction::Up => (0, -1),
            Direction::Down => (0, 1),
            Direction::Left => (-1, 0),
            Direction::Right => (1, 0),
        }
    }
}

/// A short touch.
pub(crate) fn tap(device: &mut Device, (x, y): (i32, i32)) {
    if let Some(press) = pressed(device, x, y) {
        if press == TouchAction::Launch {
            device.app.launch(vec![]);
        } else {
            device.app.press(&press);
        }
        clamp_scroll(device);
    }
}

/// A long touch.
pub(crate) fn hold(device: &mut Device, (x, y): (i32, i32)) {
    if let Some(press) = pressed(device, x, y) {
        device.app.hold(&press);
        clamp_scroll(device);
    }
}

fn pressed(device: &Device, x: i32, y: i32) -> Option<TouchAction> {
    if device.is_locked {
        return None;
    }
    device.screen().hit(x, y).and_then(|node| node.press.clone())
}

/// After something was taken out of the list it may have been scrolled too far.
fn clamp_scroll(device: &mut Device) {
    let view = list_view(device.size());
    device.app.scroll_by(0, view);
}

/// A touch that lasts this long and ends elsewhere.
pub(crate) fn touch(device: &mut Device, from: (i32, i32), to: (i32, i32), milliseconds: u64) {
    let moved = (to.0 - from.0).abs().max((to.1 - from.1).abs());
    if moved > STILL {
        drag(device, from, to);
    } else if milliseconds >= LONG_PRESS {
        hold(device, from);
    } else {
        tap(device, from);
    }
}

/// Moves what is under the finger: the list, the wheel, or back from the left edge.
pub(crate) fn drag(device: &mut Device, from: (i32, i32), to: (i32, i32)) {
    if device.is_locked || device.app.life != AppLife::Foreground || device.app.alert.is_some() {
        return;
    }
    let screen = device.screen();
    let wheel = screen.nodes.iter().find(|node| node.kind == "PickerWheel").map(|node| node.rect);
    if wheel.is_some_and(|rect| rect.contains(from.0, from.1)) {
        device.app.turn((from.1 - to.1) / LINE);
    } else if screen.scrolls_at(from.0, from.1) {
        let view = list_view(device.size());
        device.app.scroll_by(from.1 - to.1, view);
    } else if from.0 < 20 && to.0 - from.0 > 60 && device.app.tab == Tab::Items {
        device.app.press(&TouchAction::Back);
    }
}

/// A finger that goes this way from the middle of a place.
pub(crate) fn swipe(device: &mut Device, from: (i32, i32), direction: Direction) {
    let (width, height) = device.size();
    let (across, down) = direction.step();
    let far = |side: i32| side * SWIPE_SHARE / 100;
    drag(device, from, (from.0 + across * far(width), from.1 + down * far(height)));
}

/// Shows what lies this way: the opposite of where the finger goes.
pub(crate) fn scroll(device: &mut Device, direction: Direction, distance: f64) {
    let view = list_view(device.size());
    let (_, down) = direction.step();
    #[allow(clippy::cast_possible_truncation, reason = "a share of a screen is a small number")]
    let points = (f64::from(view.height) * distance.clamp(0.0, 100.0)) as i32;
    if device.screen().scrolls_at(view.centre().0, view.centre().1) {
        device.app.scroll_by(down * points, view);
    }
}

/// Scrolls until an element is in sight; it may be one of no list.
pub(crate) fn reveal(device: &mut Device, key: &str) {
    let view = list_view(device.size());
    let screen = device.screen();
    let Some(rect) = screen.by_key(key).and_then(|index| screen.node(index)).map(|node| node.rect) else {
        return;
    };
    let is_row = key.starts_with("items/");
    if is_row && rect.y < view.y {
        device.app.scroll_by(rect.y - view.y, view);
    } else if is_row && rect.y + ROW > view.y + view.height {
        device.app.scroll_by(rect.y + ROW - view.y - view.height, view);
    }
}
