//! Touches by element or by coordinates.

use serde_json::{Value, json};

use super::elements::reachable;
use super::{Command, find_element};
use crate::assumed::WHEEL_ATTEMPTS;
use crate::phone::app::SIZES;
use crate::phone::device::Device;
use crate::phone::gesture;
use crate::phone::gesture::Direction;
use crate::state::State;
use crate::webdriver::selector;
use crate::webdriver::selector::Predicate;
use crate::webdriver::webdriver_error::{CommandResult, WebDriverError};

pub(super) fn answer(state: &mut State, request: &Command, path: &[&str]) -> Option<CommandResult> {
    if request.method != http::Method::POST {
        return None;
    }
    let outcome = match path {
        ["actions"] => actions(state, request),
        ["wda", "pickerwheel", id, "select"] => {
            find_element(state, id).and_then(|index| turn(state, index, request))
        }
        ["wda", "element", id, "scrollTo"] => find_element(state, id).and_then(|index| reveal(state, index)),
        ["wda", "element", id, what] => match find_element(state, id) {
            Ok(index) => done(state, request, what, Some(index))?,
            Err(stale) => Err(stale),
        },
        ["wda", what] => done(state, request, what, None)?,
        _ => return None,
    };
    Some(outcome.map(|()| Value::Null))
}

/// None when there is no such gesture.
fn done(
    state: &mut State,
    request: &Command,
    what: &str,
    element: Option<usize>,
) -> Option<Result<(), WebDriverError>> {
    let outcome = match what {
        "tap" | "doubleTap" | "tapWithNumberOfTaps" => {
            let times = if what == "tap" { 1 } else { request.number("numberOfTaps").map_or(2, count) };
            place(state, request, element)
                .map(|at| (0..times).for_each(|_| gesture::tap(&mut state.device, at)))
        }
        "touchAndHold" | "forceTouch" => {
            place(state, request, element).map(|at| gesture::hold(&mut state.device, at))
        }
        "swipe" => swipe(state, request, element),
        "scroll" => scroll(state, request, element),
        "dragfromtoforduration" | "pressAndDragWithVelocity" => drag(state, request, element),
        "pinch" | "rotate" | "twoFingerTap" => match element {
            Some(index) => reachable(state, index).map(drop),
            None => Ok(()),
        },
        _ => return None,
    };
    Some(outcome)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number of taps")]
fn count(number: f64) -> u32 {
    number.clamp(0.0, 20.0) as u32
}

#[allow(clippy::cast_possible_truncation, reason = "points of a screen are small numbers")]
fn points(number: f64) -> i32 {
    number.round().clamp(-1e5, 1e5) as i32
}

/// Where to touch: coordinates, from the corner of the element if there is one, or its middle.
fn place(state: &mut State, request: &Command, element: Option<usize>) -> Result<(i32, i32), WebDriverError> {
    let given = request.number("x").zip(request.number("y")).map(|(x, y)| (points(x), points(y)));
    match (element, given) {
        (None, Some(at)) => Ok(at),
        (Some(index), None) => reachable(state, index),
        (Some(index), Some((x, y))) => {
            reachable(state, index)?;
            let screen = state.device.screen();
            let rect = screen.node(index).map(|node| node.rect).ok_or_else(WebDriverError::stale)?;
            Ok((rect.x + x, rect.y + y))
        }
        (None, None) => Err(WebDriverError::invalid_argument("Both x and y coordinates must be provided")),
    }
}

fn swipe(state: &mut State, request: &Command, element: Option<usize>) -> Result<(), WebDriverError> {
    let direction = Direction::read(request.text("direction")?)?;
    let from = match element {
        Some(index) => reachable(state, index)?,
        None => {
            let (width, height) = state.device.size();
            (width / 2, height / 2)
        }
    };
    gesture::swipe(&mut state.device, from, direction);
    Ok(())
}

fn scroll(state: &mut State, request: &Command, element: Option<usize>) -> Result<(), WebDriverError> {
    let screen = state.device.screen();
    let under = element.unwrap_or(0);
    if let Some(name) = request.body.get("name").and_then(Value::as_str) {
        let found = selector::find(&screen, under, "accessibility id", name)?;
        let last = found.last().copied().ok_or_else(|| WebDriverError::no_such_element("name", name))?;
        return reveal(state, last);
    }
    if let Some(text) = request.body.get("predicateString").and_then(Value::as_str) {
        let predicate = Predicate::parse(text)?;
        let found = screen.below(under).into_iter().find(|&index| predicate.holds(&screen, index));
        return reveal(
            state,
            found.ok_or_else(|| WebDriverError::no_such_element("predicate string", text))?,
        );
    }
    if let Ok(direction) = request.text("direction") {
        let distance = request.number("distance").unwrap_or(1.0);
        gesture::scroll(&mut state.device, Direction::read(direction)?, distance);
        return Ok(());
    }
    match element {
        Some(index) if request.body.get("toVisible").is_some() => reveal(state, index),
        _ => Err(WebDriverError::invalid_argument("Unsupported scroll type")),
    }
}

fn reveal(state: &mut State, index: usize) -> Result<(), WebDriverError> {
    reachable(state, index).map(drop)
}

fn drag(state: &mut State, request: &Command, element: Option<usize>) -> Result<(), WebDriverError> {
    let point =
        |x: &str, y: &str| request.number(x).zip(request.number(y)).map(|(x, y)| (points(x), points(y)));
    let corner = match element {
        Some(index) => {
            reachable(state, index)?;
            let screen = state.device.screen();
            screen.node(index).map(|node| (node.rect.x, node.rect.y)).ok_or_else(WebDriverError::stale)?
        }
        None => (0, 0),
    };
    if let (Some(index), Ok(target)) = (element, request.text("toElement")) {
        let (from, target) = (reachable(state, index)?, find_element(state, target)?);
        let to = reachable(state, target)?;
        gesture::drag(&mut state.device, from, to);
        return Ok(());
    }
    let both = point("fromX", "fromY").zip(point("toX", "toY"));
    let (from, to) =
        both.ok_or_else(|| WebDriverError::invalid_argument("fromX, fromY, toX and toY must be provided"))?;
    let at = |place: (i32, i32)| (corner.0 + place.0, corner.1 + place.1);
    gesture::drag(&mut state.device, at(from), at(to));
    Ok(())
}

fn actions(state: &mut State, request: &Command) -> Result<(), WebDriverError> {
    let State { device, session, .. } = state;
    let session = session.as_ref().ok_or_else(WebDriverError::no_session)?;
    let place = |device: &Device, id: &str| {
        let screen = device.screen();
        let index = screen.by_key(session.key(id)?);
        let node = index.and_then(|index| screen.node(index)).ok_or_else(WebDriverError::stale)?;
        Ok(node.rect.centre())
    };
    gesture::perform(device, &request.body, &place)
}

fn turn(state: &mut State, index: usize, request: &Command) -> Result<(), WebDriverError> {
    let screen = state.device.screen();
    let node = screen.node(index).ok_or_else(WebDriverError::stale)?;
    if node.kind != "PickerWheel" {
        let message =
            format!("The element is expected to be a valid Picker Wheel control, not '{}'", node.type_name());
        return Err(WebDriverError::invalid_argument(message));
    }
    let by = match request.text("order")?.to_lowercase().as_str() {
        "next" => 1,
        "previous" => -1,
        other => {
            let message = format!("Only 'previous' and 'next' order values are supported, not '{other}'");
            return Err(WebDriverError::invalid_argument(message));
        }
    };
    reachable(state, index)?;
    let wanted = request.body.get("value").and_then(Value::as_str);
    let attempts =
        request.body.get("maxAttempts").and_then(Value::as_u64).unwrap_or(WHEEL_ATTEMPTS).min(1_000);
    for _ in 0..attempts {
        let before = state.device.app.size;
        state.device.app.turn(by);
        if state.device.app.size == before {
            return Err(WebDriverError::invalid_state("Picker wheel value has not been changed"));
        }
        if wanted.is_none_or(|wanted| wanted == state.device.app.size_name()) {
            return Ok(());
        }
    }
    let known = json!(SIZES);
    let wanted = wanted.unwrap_or_default();
    Err(WebDriverError::invalid_state(format!(
        "Cannot select '{wanted}' after {attempts} attempts; there are {known}"
    )))
}
