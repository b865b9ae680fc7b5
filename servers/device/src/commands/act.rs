//! Fingers.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Echo, Fault, reason};
use failwell_server::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::aim::{Aim, Found, Patience};
use super::{Command, Done, Entry, Nature, entry};
use crate::device::{Device, GESTURE};
use crate::stage::Stage;
use crate::w3c::{ElementId, Gesture, Point, Rect, Refusal, Trouble};

pub(super) fn add(all: &mut Vec<Entry>) {
    all.push(entry::<Tap>());
    all.push(entry::<LongPress>());
    all.push(entry::<Swipe>());
    all.push(entry::<ScrollTo>());
}

/// What was done.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Acted {
    /// Always true: what could not be done is a failure.
    pub(crate) done: bool,
    /// How long it took, waiting included, in milliseconds.
    pub(crate) took_ms: u64,
}

pub(super) fn acted(patience: &Patience, text: impl Into<String>) -> Done<Acted> {
    let took_ms = u64::try_from(patience.spent().as_millis()).unwrap_or(u64::MAX);
    Done::new(Acted { done: true, took_ms }, text)
}

type Working<T> = Pin<Box<dyn Future<Output = Result<T, Trouble>> + Send>>;

/// Finds an element and uses it. One that changed between the two is found anew, and one that cannot be used yet is waited
/// for: in both cases nothing was done to it.
pub(super) async fn on_element<T, F>(
    aim: &Aim,
    stage: &Stage,
    cx: &Context,
    what: &'static str,
    work: F,
) -> Result<T, Fault>
where
    T: Send + 'static,
    F: Fn(Arc<dyn Device>, ElementId) -> Working<T> + Clone + Send + 'static,
{
    let mut patience = Patience::new(aim.timeout);
    loop {
        let Found { element } = aim.find(stage, cx).await?;
        let work = work.clone();
        let done = stage.attempt(move |device| work(device, element)).await?;
        match done {
            Ok(done) => return Ok(done),
            Err(trouble) if trouble.is(Refusal::StaleElement) || trouble.is(Refusal::NotInteractable) => {
                if !patience.wait(cx, "waiting until the element can be used").await {
                    return Err(stage.fault(trouble, what, None).await);
                }
            }
            Err(trouble) => return Err(stage.fault(trouble, what, None).await),
        }
    }
}

/// A place named by numbers, if both are there.
fn place(x: Option<f64>, y: Option<f64>) -> Result<Option<Point>, Fault> {
    match (x, y) {
        (Some(x), Some(y)) => Ok(Some(Point { x, y })),
        (None, None) => Ok(None),
        _ => Err(Fault::new(&reason::DEVICE_INVALID_VALUE)
            .fact("field", "x")
            .fact("why", "x and y belong together")
            .fact("help", "pass both or neither")),
    }
}

/// Where a gesture is to be made: at a place, or in the middle of an element.
async fn spot(aim: &Aim, at: Option<Point>, stage: &Stage, cx: &Context) -> Result<Point, Fault> {
    if let Some(at) = at {
        return Ok(at);
    }
    let area = area(aim, stage, cx).await?;
    let (x, y) = area.center();
    Ok(Point { x, y })
}

/// The area of an element, when it is known to be there.
async fn area(aim: &Aim, stage: &Stage, cx: &Context) -> Result<Rect, Fault> {
    let mut patience = Patience::new(aim.timeout);
    loop {
        let Found { element } = aim.find(stage, cx).await?;
        match stage.device.rect(&element).await {
            Ok(rect) if !rect.is_empty() => return Ok(rect),
            Ok(_) => {
                if !patience.wait(cx, "waiting until the element can be seen").await {
                    let why = "it has no area on the screen";
                    return Err(Fault::new(&reason::DEVICE_NOT_INTERACTABLE).fact("why", why));
                }
            }
            Err(trouble) if trouble.is(Refusal::StaleElement) => {
                if !patience.wait(cx, "waiting until the element stays").await {
                    return Err(stage.fault(trouble, "places of elements", None).await);
                }
            }
            Err(trouble) => return Err(stage.fault(trouble, "places of elements", None).await),
        }
    }
}

async fn gesture(stage: &Stage, gesture: Gesture) -> Result<(), Fault> {
    stage.act("gestures", move |device| Box::pin(async move { device.perform(gesture).await })).await
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Tap {
    #[serde(flatten)]
    aim: Aim,
    /// Instead of an element: a place on the screen, in the units of rect.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100_000))]
    x: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100_000))]
    y: Option<f64>,
    /// Tap twice in short order.
    #[serde(default)]
    double: bool,
}

impl Command for Tap {
    const NAME: &'static str = "tap_element";
    const TITLE: &'static str = "Tap";
    const ABOUT: &'static str = "Taps an element (ref or selector), or a place (x and y). Waits until the element is there and can be tapped.";
    const NATURE: Nature = Nature::Acts;
    type Answer = Acted;

    fn session(&self) -> Option<&str> {
        self.aim.session.as_deref()
    }

    fn words(&self) -> String {
        match (self.x, self.y) {
            (Some(x), Some(y)) => format!("{x}, {y}"),
            _ => self.aim.words(),
        }
    }

    fn selector(&self) -> Option<&str> {
        self.aim.selector.as_deref()
    }

    async fn perform(&self, stage: &Stage, cx: &Context) -> Result<Done<Acted>, Fault> {
        let patience = Patience::new(self.aim.timeout);
        let at = place(self.x, self.y)?;
        if at.is_some() || self.double {
            let at = spot(&self.aim, at, stage, cx).await?;
            let tap = if self.double { Gesture::DoubleTap(at) } else { Gesture::Tap(at) };
            gesture(stage, tap).await?;
        } else {
            on_element(&self.aim, stage, cx, "tapping elements", |device, element| {
                Box::pin(async move { device.click(&element).await })
            })
            .await?;
        }
        Ok(acted(&patience, "tapped"))
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct LongPress {
    #[serde(flatten)]
    aim: Aim,
    /// Instead of an element: a place on the screen, in the units of rect.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100_000))]
    x: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100_000))]
    y: Option<f64>,
    /// How long the finger stays, in milliseconds; 1000 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100, max = 30_000))]
    duration_ms: Option<u64>,
}

impl Command for LongPress {
    const NAME: &'static str = "long_press";
    const TITLE: &'static str = "Press and hold";
    const ABOUT: &'static str = "Presses an element or a place and holds it for a while.";
    const NATURE: Nature = Nature::Acts;
    type Answer = Acted;

    aimed!();

    async fn perform(&self, stage: &Stage, cx: &Context) -> Result<Done<Acted>, Fault> {
        let patience = Patience::new(self.aim.timeout);
        let at = spot(&self.aim, place(self.x, self.y)?, stage, cx).await?;
        gesture(stage, Gesture::Press(at, Duration::from_millis(self.duration_ms.unwrap_or(1_000)))).await?;
        Ok(acted(&patience, "pressed and held"))
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

    fn turned(self) -> Direction {
        match self {
            Direction::Up => Direction::Down,
            Direction::Down => Direction::Up,
            Direction::Left => Direction::Right,
            Direction::Right => Direction::Left,
        }
    }

    /// From where to where within an area, over a part of it.
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
    aim: Aim,
    /// Which way the finger moves: up shows what is further down.
    direction: Direction,
    /// How much of the screen, or of the element, the finger crosses; 0.6 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.05, max = 0.95))]
    distance: Option<f64>,
    /// How long it takes, in milliseconds; 400 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 50, max = 10_000))]
    duration_ms: Option<u64>,
}

impl Command for Swipe {
    const NAME: &'static str = "swipe";
    const TITLE: &'static str = "Swipe";
    const ABOUT: &'static str = "Swipes across the screen, or across an element (ref or selector).";
    const NATURE: Nature = Nature::Acts;
    type Answer = Acted;

    fn session(&self) -> Option<&str> {
        self.aim.session.as_deref()
    }

    fn words(&self) -> String {
        format!("{} {}", self.direction.as_str(), self.aim.words()).trim_end().to_owned()
    }

    fn selector(&self) -> Option<&str> {
        self.aim.selector.as_deref()
    }

    async fn perform(&self, stage: &Stage, cx: &Context) -> Result<Done<Acted>, Fault> {
        let patience = Patience::new(self.aim.timeout);
        let is_aimed = self.aim.selector.is_some() || self.aim.reference.is_some();
        let area = if is_aimed { area(&self.aim, stage, cx).await? } else { viewport(stage).await? };
        let (from, to) = self.direction.within(area, self.distance.unwrap_or(0.6));
        let length = self.duration_ms.map_or(GESTURE, Duration::from_millis);
        gesture(stage, Gesture::Swipe(from, to, length)).await?;
        Ok(acted(&patience, format!("swiped {}", self.direction.as_str())))
    }
}

async fn viewport(stage: &Stage) -> Result<Rect, Fault> {
    match stage.device.viewport().await {
        Ok(rect) => Ok(rect),
        Err(trouble) => Err(stage.fault(trouble, "the size of the screen", None).await),
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct ScrollTo {
    #[serde(flatten)]
    aim: Aim,
    /// Where the element is from here; down unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    direction: Option<Direction>,
    /// At most so many swipes; 10 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 50))]
    max_swipes: Option<u32>,
}

/// What scrolling came to.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Scrolled {
    pub(crate) done: bool,
    /// How many swipes it took.
    pub(crate) swipes: u32,
}

impl Command for ScrollTo {
    const NAME: &'static str = "scroll_to";
    const TITLE: &'static str = "Scroll to";
    const ABOUT: &'static str =
        "Swipes until an element is on the screen, until nothing moves any more, or until max_swipes.";
    const NATURE: Nature = Nature::Acts;
    type Answer = Scrolled;

    aimed!();

    async fn perform(&self, stage: &Stage, cx: &Context) -> Result<Done<Scrolled>, Fault> {
        let most = self.max_swipes.unwrap_or(10);
        let finger = self.direction.unwrap_or(Direction::Down).turned();
        let area = viewport(stage).await?;
        let mut before = None;
        for swipes in 0..=most {
            if is_on_screen(&self.aim, stage, area).await? {
                return Ok(Done::new(
                    Scrolled { done: true, swipes },
                    format!("on the screen after {swipes} swipes"),
                ));
            }
            stage.look().await?;
            let now = stage.session.refs().screen().cloned();
            if swipes == most || (before.is_some() && before == now) {
                return Err(self.not_found(swipes));
            }
            before = now;
            cx.progress(f64::from(swipes), Some(f64::from(most)), Some("scrolling")).await;
            let (from, to) = finger.within(area, 0.6);
            gesture(stage, Gesture::Swipe(from, to, GESTURE)).await?;
        }
        Err(self.not_found(most))
    }
}

impl ScrollTo {
    fn not_found(&self, swipes: u32) -> Fault {
        Fault::new(&reason::DEVICE_NOT_FOUND_BY_SCROLLING)
            .fact("count", swipes)
            .fact("strategy", self.aim.strategy.as_str())
            .fact("wanted", Echo::of_caller(&self.aim.words()))
    }
}

async fn is_on_screen(aim: &Aim, stage: &Stage, area: Rect) -> Result<bool, Fault> {
    let Some(Found { element }) = aim.look_once(stage).await? else { return Ok(false) };
    let displayed = stage.device.is_displayed(&element).await;
    let rect = stage.device.rect(&element).await;
    match (displayed, rect) {
        (Ok(displayed), Ok(rect)) => Ok(displayed && rect.is_centered_in(area)),
        (Err(trouble), _) | (_, Err(trouble)) if trouble.is(Refusal::StaleElement) => Ok(false),
        (Err(trouble), _) | (_, Err(trouble)) => Err(stage.fault(trouble, "places of elements", None).await),
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
