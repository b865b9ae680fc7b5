//! Gestures as W3C actions of one finger: <https://www.w3.org/TR/webdriver2/#actions>.

use std::time::Duration;

use serde_json::{Value, json};

/// A point on the screen, in the driver's units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

/// A gesture of one finger.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Gesture {
    Tap(Point),
    DoubleTap(Point),
    /// A touch of this duration.
    Press(Point, Duration),
    /// A touch that moves for this duration.
    Swipe(Point, Point, Duration),
}

/// The duration of a tap.
const TOUCH: Duration = Duration::from_millis(60);
/// The pause between the taps of a double tap.
const BETWEEN: Duration = Duration::from_millis(80);
/// The pause before a swipe moves, so that it is not a tap.
const REST: Duration = Duration::from_millis(100);

impl Gesture {
    /// The body of the command.
    pub(crate) fn body(self) -> Value {
        let mut actions = Vec::new();
        match self {
            Gesture::Tap(at) => actions.extend(access(at, TOUCH)),
            Gesture::DoubleTap(at) => {
                actions.extend(access(at, TOUCH));
                actions.push(pause(BETWEEN));
                actions.extend(access(at, TOUCH));
            }
            Gesture::Press(at, length) => actions.extend(access(at, length)),
            Gesture::Swipe(from, to, length) => {
                actions.extend([go(from, Duration::ZERO), down(), pause(REST), go(to, length), up()]);
            }
        }
        let finger = json!({
            "type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}, "actions": actions,
        });
        json!({"actions": [finger]})
    }

    /// The minimum duration.
    pub(crate) fn duration(self) -> Duration {
        match self {
            Gesture::Tap(_) => TOUCH,
            Gesture::DoubleTap(_) => TOUCH * 2 + BETWEEN,
            Gesture::Press(_, length) => length,
            Gesture::Swipe(_, _, length) => REST + length,
        }
    }
}

fn access(at: Point, length: Duration) -> [Value; 4] {
    [go(at, Duration::ZERO), down(), pause(length), up()]
}

/// Some drivers accept only whole numbers here.
fn go(to: Point, length: Duration) -> Value {
    json!({
        "type": "pointerMove", "duration": millis(length), "origin": "viewport",
        "x": to.x.round() as i64, "y": to.y.round() as i64,
    })
}

fn down() -> Value {
    json!({"type": "pointerDown", "button": 0})
}

fn up() -> Value {
    json!({"type": "pointerUp", "button": 0})
}

fn pause(length: Duration) -> Value {
    json!({"type": "pause", "duration": millis(length)})
}

fn millis(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Gesture, Point};
    use std::time::Duration;

    #[test]
    fn a_swipe_goes_down_moves_and_comes_up() {
        let swipe = Gesture::Swipe(
            Point { x: 10.4, y: 500.0 },
            Point { x: 10.0, y: 100.0 },
            Duration::from_millis(400),
        );
        let body = swipe.body();
        let finger = &body["actions"][0];
        let kinds: Vec<&str> =
            finger["actions"].as_array().unwrap().iter().map(|it| it["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["pointerMove", "pointerDown", "pause", "pointerMove", "pointerUp"]);
        assert_eq!(finger["parameters"]["pointerType"], "touch");
        assert_eq!(finger["actions"][0]["x"], 10);
        assert_eq!(finger["actions"][3]["duration"], 400);
        assert_eq!(swipe.duration(), Duration::from_millis(500));
    }
}
