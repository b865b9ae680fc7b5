//! Touch gestures.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Echo, Fault};
use failwell_sdk::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::target::{ElementTarget, ElementWait, LocatedElement};
use super::{Command, CommandEntry, CommandKind, TypedOutput, entry};
use crate::device::{Device, GESTURE};
use crate::reason;
use crate::sessions::lease::DeviceLease;
use crate::w3c::{DriverError, ElementId, Gesture, Point, Rect, WebDriverErrorCode};

pub(super) fn add(all: &mut Vec<CommandEntry>) {
    all.push(entry::<Tap>());
    all.push(entry::<LongPress>());
    all.push(entry::<Swipe>());
    all.push(entry::<ScrollTo>());
}

/// The action that was performed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ActionResult {
    /// Always true: an action that cannot be performed is a failure.
    pub(crate) done: bool,
    /// The duration in milliseconds, with the wait.
    pub(crate) took_ms: u64,
}

pub(super) fn action_result(patience: &ElementWait, text: impl Into<String>) -> TypedOutput<ActionResult> {
    let took_ms = u64::try_from(patience.spent().as_millis()).unwrap_or(u64::MAX);
    TypedOutput::new(ActionResult { done: true, took_ms }, text)
}

type ActionFuture<T> = Pin<Box<dyn Future<Output = Result<T, DriverError>> + Send>>;

/// Finds an element and acts on it. A stale element is searched again, and an element that is not
/// interactable is retried: in both cases the action was not performed.
pub(super) async fn on_element<T, F>(
    target: &ElementTarget,
    lease: &DeviceLease,
    cx: &Context,
    what: &'static str,
    work: F,
) -> Result<T, Fault>
where
    T: Send + 'static,
    F: Fn(Arc<dyn Device>, ElementId) -> ActionFuture<T> + Clone + Send + 'static,
{
    let mut patience = ElementWait::new(target.timeout);
    loop {
        let LocatedElement { element } = target.find(lease, cx).await?;
        let work = work.clone();
        let done = lease.attempt(move |device| work(device, element)).await?;
        match done {
            Ok(done) => return Ok(done),
            Err(trouble)
                if trouble.is(WebDriverErrorCode::StaleElement)
                    || trouble.is(WebDriverErrorCode::NotInteractable) =>
            {
                if !patience.wait(cx, "waiting until the element can be used").await {
                    return Err(lease.fault(trouble, what, None).await);
                }
            }
            Err(trouble) => return Err(lease.fault(trouble, what, None).await),
        }
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct ScreenPlace {
    /// Instead of an element: a point on the screen, in the units of rect.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100_000))]
    x: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100_000))]
    y: Option<f64>,
}

impl ScreenPlace {
    /// The point, if both coordinates are given.
    fn point(&self) -> Result<Option<Point>, Fault> {
        match (self.x, self.y) {
            (Some(x), Some(y)) => Ok(Some(Point { x, y })),
            (None, None) => Ok(None),
            _ => Err(Fault::new(&reason::DEVICE_INVALID_VALUE)
                .fact("field", "x")
                .fact("why", "x and y belong together")
                .fact("help", "pass both or neither")),
        }
    }
}

/// The point of a gesture: the given point, or the centre of an element.
async fn gesture_point(
    target: &ElementTarget,
    at: Option<Point>,
    lease: &DeviceLease,
    cx: &Context,
) -> Result<Point, Fault> {
    if let Some(at) = at {
        return Ok(at);
    }
    let area = area(target, lease, cx).await?;
    let (x, y) = area.center();
    Ok(Point { x, y })
}

/// The area of an element that is on the screen.
async fn area(target: &ElementTarget, lease: &DeviceLease, cx: &Context) -> Result<Rect, Fault> {
    let mut patience = ElementWait::new(target.timeout);
    loop {
        let LocatedElement { element } = target.find(lease, cx).await?;
        match lease.device.rect(&element).await {
            Ok(rect) if !rect.is_empty() => return Ok(rect),
            Ok(_) => {
                if !patience.wait(cx, "waiting until the element can be seen").await {
                    let why = "it has no area on the screen";
                    return Err(Fault::new(&reason::DEVICE_NOT_INTERACTABLE).fact("why", why));
                }
            }
            Err(trouble) if trouble.is(WebDriverErrorCode::StaleElement) => {
                if !patience.wait(cx, "waiting until the element stays").await {
                    return Err(lease.fault(trouble, "places of elements", None).await);
                }
            }
            Err(trouble) => return Err(lease.fault(trouble, "places of elements", None).await),
        }
    }
}

async fn gesture(lease: &DeviceLease, gesture: Gesture) -> Result<(), Fault> {
    lease.act("gestures", move |device| Box::pin(async move { device.perform(gesture).await })).await
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Tap {
    #[serde(flatten)]
    target: ElementTarget,
    #[serde(flatten)]
    place: ScreenPlace,
    /// Double-tap.
    #[serde(default)]
    double: bool,
}

impl Command for Tap {
    const NAME: &'static str = "tap_element";
    const TITLE: &'static str = "Tap";
    const ABOUT: &'static str = "Taps an element (ref or selector), or a point (x and y). Waits until the element exists and can be tapped.";
    const KIND: CommandKind = CommandKind::Acts;
    type Answer = ActionResult;

    in_session!(target);

    fn describe(&self) -> String {
        match (self.place.x, self.place.y) {
            (Some(x), Some(y)) => format!("{x}, {y}"),
            _ => self.target.describe(),
        }
    }

    fn selector(&self) -> Option<&str> {
        self.target.selector.as_deref()
    }

    async fn perform(&self, lease: &DeviceLease, cx: &Context) -> Result<TypedOutput<ActionResult>, Fault> {
        let patience = ElementWait::new(self.target.timeout);
        let at = self.place.point()?;
        if at.is_some() || self.double {
            let at = gesture_point(&self.target, at, lease, cx).await?;
            let tap = if self.double { Gesture::DoubleTap(at) } else { Gesture::Tap(at) };
            gesture(lease, tap).await?;
        } else {
            on_element(&self.target, lease, cx, "tapping elements", |device, element| {
                Box::pin(async move { device.click(&element).await })
            })
            .await?;
        }
        Ok(action_result(&patience, "tapped"))
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct LongPress {
    #[serde(flatten)]
    target: ElementTarget,
    #[serde(flatten)]
    place: ScreenPlace,
    /// The duration of the press, in milliseconds; default 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100, max = 30_000))]
    duration_ms: Option<u64>,
}

impl Command for LongPress {
    const NAME: &'static str = "long_press";
    const TITLE: &'static str = "Press and hold";
    const ABOUT: &'static str = "Presses an element or a point, and holds it for a duration.";
    const KIND: CommandKind = CommandKind::Acts;
    type Answer = ActionResult;

    aimed!();

    async fn perform(&self, lease: &DeviceLease, cx: &Context) -> Result<TypedOutput<ActionResult>, Fault> {
        let patience = ElementWait::new(self.target.timeout);
        let at = gesture_point(&self.target, self.place.point()?, lease, cx).await?;
        gesture(lease, Gesture::Press(at, Duration::from_millis(self.duration_ms.unwrap_or(1_000)))).await?;
        Ok(action_result(&patience, "pressed and held"))
    }
}

/// Which way a finger moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Direction {
    Up,
    Down,
    Left,
    Right,
}

impl Direction {
    fn as_str(self) -> &'static str {
        match self {
            Direction::Up => "up",
            Direction::Down => "down",
            Direction::Left => "left",
            Direction::Right => "right",
        }
    }

    fn opposite(self) -> Direction {
        match self {
            Direction::Up => Direction::Down,
            Direction::Down => Direction::Up,
            Direction::Left => Direction::Right,
            Direction::Right => Direction::Left,
        }
    }

    /// The start and end of a swipe over a part of an area.
    fn within(self, area: Rect, part: f64) -> (Point, Point) {
        let (x, y) = area.center();
        let (across, down) = (area.width * part / 2.0, area.height * part / 2.0);
        let at = |dx: f64, dy: f64| Point { x: x + dx, y: y + dy };
        match self {
            Direction::Up => (at(0.0, down), at(0.0, -down)),
            Direction::Down => (at(0.0, -down), at(0.0, down)),
            Direction::Left => (at(across, 0.0), at(-across, 0.0)),
            Direction::Right => (at(-across, 0.0), at(across, 0.0)),
        }
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Swipe {
    #[serde(flatten)]
    target: ElementTarget,
    /// The direction in which the finger moves: up shows content further down.
    direction: Direction,
    /// The share of the screen or the element that the finger crosses; default 0.6.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.05, max = 0.95))]
    distance: Option<f64>,
    /// The duration of the swipe, in milliseconds; default 400.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 50, max = 10_000))]
    duration_ms: Option<u64>,
}

impl Command for Swipe {
    const NAME: &'static str = "swipe";
    const TITLE: &'static str = "Swipe";
    const ABOUT: &'static str = "Swipes across the screen, or across an element (ref or selector).";
    const KIND: CommandKind = CommandKind::Acts;
    type Answer = ActionResult;

    in_session!(target);

    fn describe(&self) -> String {
        format!("{} {}", self.direction.as_str(), self.target.describe()).trim_end().to_owned()
    }

    fn selector(&self) -> Option<&str> {
        self.target.selector.as_deref()
    }

    async fn perform(&self, lease: &DeviceLease, cx: &Context) -> Result<TypedOutput<ActionResult>, Fault> {
        let patience = ElementWait::new(self.target.timeout);
        let is_aimed = self.target.selector.is_some() || self.target.reference.is_some();
        let area = if is_aimed { area(&self.target, lease, cx).await? } else { viewport(lease).await? };
        let (from, to) = self.direction.within(area, self.distance.unwrap_or(0.6));
        let length = self.duration_ms.map_or(GESTURE, Duration::from_millis);
        gesture(lease, Gesture::Swipe(from, to, length)).await?;
        Ok(action_result(&patience, format!("swiped {}", self.direction.as_str())))
    }
}

async fn viewport(lease: &DeviceLease) -> Result<Rect, Fault> {
    match lease.device.viewport().await {
        Ok(rect) => Ok(rect),
        Err(trouble) => Err(lease.fault(trouble, "the size of the screen", None).await),
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct ScrollTo {
    #[serde(flatten)]
    target: ElementTarget,
    /// The direction of the element from the visible part; default down.
    #[serde(skip_serializing_if = "Option::is_none")]
    direction: Option<Direction>,
    /// The maximum number of swipes; default 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 50))]
    max_swipes: Option<u32>,
}

/// The result of scrolling.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ScrollResult {
    pub(crate) done: bool,
    /// The number of swipes.
    pub(crate) swipes: u32,
}

impl Command for ScrollTo {
    const NAME: &'static str = "scroll_to";
    const TITLE: &'static str = "Scroll to";
    const ABOUT: &'static str =
        "Swipes until an element is on the screen, the content stops moving, or max_swipes is reached.";
    const KIND: CommandKind = CommandKind::Acts;
    type Answer = ScrollResult;

    aimed!();

    async fn perform(&self, lease: &DeviceLease, cx: &Context) -> Result<TypedOutput<ScrollResult>, Fault> {
        let most = self.max_swipes.unwrap_or(10);
        let finger = self.direction.unwrap_or(Direction::Down).opposite();
        let area = viewport(lease).await?;
        let mut before = None;
        for swipes in 0..=most {
            if is_on_screen(&self.target, lease, area).await? {
                return Ok(TypedOutput::new(
                    ScrollResult { done: true, swipes },
                    format!("on the screen after {swipes} swipes"),
                ));
            }
            lease.look().await?;
            let now = lease.session.refs().screen().cloned();
            if swipes == most || (before.is_some() && before == now) {
                return Err(self.not_found(swipes));
            }
            before = now;
            cx.progress(f64::from(swipes), Some(f64::from(most)), Some("scrolling")).await;
            let (from, to) = finger.within(area, 0.6);
            gesture(lease, Gesture::Swipe(from, to, GESTURE)).await?;
        }
        Err(self.not_found(most))
    }
}

impl ScrollTo {
    fn not_found(&self, swipes: u32) -> Fault {
        Fault::new(&reason::DEVICE_NOT_FOUND_BY_SCROLLING)
            .fact("count", swipes)
            .fact("strategy", self.target.strategy.as_str())
            .fact("wanted", Echo::of_caller(&self.target.describe()))
    }
}

async fn is_on_screen(target: &ElementTarget, lease: &DeviceLease, area: Rect) -> Result<bool, Fault> {
    let Some(LocatedElement { element }) = target.look_once(lease).await? else { return Ok(false) };
    let displayed = lease.device.is_displayed(&element).await;
    let rect = lease.device.rect(&element).await;
    match (displayed, rect) {
        (Ok(displayed), Ok(rect)) => Ok(displayed && rect.is_centered_in(area)),
        (Err(trouble), _) | (_, Err(trouble)) if trouble.is(WebDriverErrorCode::StaleElement) => Ok(false),
        (Err(trouble), _) | (_, Err(trouble)) => Err(lease.fault(trouble, "places of elements", None).await),
    }
}

#[cfg(test)]
mod tests {
    use super::Direction;
    use crate::w3c::Rect;

    #[test]
    fn a_swipe_stays_inside_its_area() {
        let area = Rect { x: 10.0, y: 100.0, width: 200.0, height: 400.0 };
        for direction in [Direction::Up, Direction::Down, Direction::Left, Direction::Right] {
            for point in <[_; 2]>::from(direction.within(area, 0.95)) {
                assert!(
                    point.x >= 10.0 && point.x <= 210.0 && point.y >= 100.0 && point.y <= 500.0,
                    "{point:?}"
                );
            }
        }
        let (from, to) = Direction::Up.within(area, 0.5);
        assert_eq!((from.y, to.y), (400.0, 200.0));
    }
}
