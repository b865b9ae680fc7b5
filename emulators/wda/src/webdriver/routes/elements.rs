//! Elements: found, read, clicked and typed into.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{Command, find_element, found, session};
use crate::phone::app::{Field, SIZES, TouchAction};
use crate::phone::gesture;
use crate::phone::screen::{UiElement, attribute};
use crate::phone::screenshot;
use crate::state::State;
use crate::webdriver::webdriver_error::{CommandResult, WebDriverError};

pub(super) fn answer(state: &mut State, request: &Command, path: &[&str]) -> Option<CommandResult> {
    Some(match (request.method.as_str(), path) {
        ("POST", ["element"]) => first(state, None, request),
        ("POST", ["elements"]) => every(state, None, request),
        ("POST", ["element", id, "element"]) => first(state, Some(id), request),
        ("POST", ["element", id, "elements"]) => every(state, Some(id), request),
        ("GET", ["element", "active"]) => active(state),
        ("GET", ["wda", "element", id, "getVisibleCells"]) => visible_cells(state, id),
        ("GET", ["element", id, "attribute", name]) => read(state, id, |state, index| {
            let value = attribute(&state.device.screen(), index, name);
            let unknown = || WebDriverError::invalid_argument(format!("The attribute '{name}' is unknown"));
            value.map(|value| value.answered()).ok_or_else(unknown)
        }),
        ("GET", ["element", id, what]) => property(state, id, what),
        ("GET", ["screenshot", id]) => property(state, id, "screenshot"),
        ("GET", ["wda", "element", id, "accessible"]) => {
            of_node(state, id, |node| json!(node.is_accessible()))
        }
        ("GET", ["wda", "element", id, "accessibilityContainer"]) => {
            of_node(state, id, |node| json!(!node.is_accessible()))
        }
        ("POST", ["element", id, "click"]) => click(state, id),
        ("POST", ["element", id, "value"]) => {
            find_element(state, id).and_then(|index| type_into(state, index, request))
        }
        ("POST", ["element", id, "clear"]) => find_element(state, id).and_then(|index| clear(state, index)),
        ("POST", ["wda", "keys"]) => {
            let text = typed(request);
            text.and_then(
                |text| if state.device.app.type_text(&text) { Ok(Value::Null) } else { Err(no_focus()) },
            )
        }
        ("POST", ["wda", "keyboard", "dismiss"]) => {
            state.device.app.focus = None;
            Ok(Value::Null)
        }
        _ => return None,
    })
}

fn first(state: &mut State, under: Option<&str>, request: &Command) -> CommandResult {
    let all = found(state, under, request)?;
    let missing = || {
        let asked = |name: &str| request.body.get(name).and_then(Value::as_str).unwrap_or_default();
        WebDriverError::no_such_element(asked("using"), asked("value"))
    };
    let index = all.first().copied().ok_or_else(missing)?;
    refer(state, index)
}

fn every(state: &mut State, under: Option<&str>, request: &Command) -> CommandResult {
    let all = found(state, under, request)?;
    all.into_iter().map(|index| refer(state, index)).collect()
}

fn refer(state: &mut State, index: usize) -> CommandResult {
    let screen = state.device.screen();
    let key = screen.node(index).map(|node| node.key.as_str()).ok_or_else(WebDriverError::stale)?;
    Ok(session(state)?.refer(key))
}

fn active(state: &mut State) -> CommandResult {
    let screen = state.device.screen();
    let focused = screen.nodes.iter().position(|node| node.selected && node.placeholder.is_some());
    let index = focused.ok_or_else(|| WebDriverError::no_such_element("active", "element"))?;
    refer(state, index)
}

fn visible_cells(state: &mut State, id: &str) -> CommandResult {
    let screen = state.device.screen();
    let table = find_element(state, id)?;
    let shown = |index: &usize| screen.node(*index).is_some_and(|node| node.kind == "Cell" && node.visible);
    let cells: Vec<usize> = screen.below(table).into_iter().filter(shown).collect();
    cells.into_iter().map(|index| refer(state, index)).collect()
}

fn read(state: &mut State, id: &str, look: impl Fn(&State, usize) -> CommandResult) -> CommandResult {
    let index = find_element(state, id)?;
    look(state, index)
}

fn of_node(state: &mut State, id: &str, look: impl Fn(&UiElement) -> Value) -> CommandResult {
    let index = find_element(state, id)?;
    state.device.screen().node(index).map(look).ok_or_else(WebDriverError::stale)
}

fn property(state: &mut State, id: &str, what: &str) -> CommandResult {
    match what {
        "text" => of_node(state, id, |node| json!(node.value.as_ref().or(node.label.as_ref()))),
        "name" => of_node(state, id, |node| json!(node.type_name())),
        "enabled" => of_node(state, id, |node| json!(node.enabled)),
        "displayed" => of_node(state, id, |node| json!(node.visible)),
        "selected" => of_node(state, id, |node| json!(node.selected)),
        "rect" => of_node(state, id, |node| {
            let rect = node.rect;
            json!({"x": rect.x, "y": rect.y, "width": rect.width, "height": rect.height})
        }),
        "screenshot" => read(state, id, |state, index| {
            let screen = state.device.screen();
            let rect = screen.node(index).map(|node| node.rect).ok_or_else(WebDriverError::stale)?;
            Ok(json!(STANDARD.encode(screenshot::picture(&state.device, Some(rect), 0))))
        }),
        other => Err(WebDriverError::unknown_command(&format!("GET /element/{id}/{other}"))),
    }
}

/// Brings it into sight and touches the middle of it.
fn click(state: &mut State, id: &str) -> CommandResult {
    let index = find_element(state, id)?;
    touch(state, index)?;
    Ok(Value::Null)
}

fn touch(state: &mut State, index: usize) -> Result<(), WebDriverError> {
    let place = reachable(state, index)?;
    gesture::tap(&mut state.device, place);
    Ok(())
}

/// The middle of an element, once it is in sight and nothing is in the way.
pub(super) fn reachable(state: &mut State, index: usize) -> Result<(i32, i32), WebDriverError> {
    let screen = state.device.screen();
    let node = screen.node(index).ok_or_else(WebDriverError::stale)?;
    if screen.is_covered(index) {
        let title = state.device.app.alert.as_ref().map(|alert| alert.title.clone()).unwrap_or_default();
        return Err(WebDriverError::alert_open(&title));
    }
    gesture::reveal(&mut state.device, &node.key);
    let screen = state.device.screen();
    let node =
        screen.by_key(&node.key).and_then(|index| screen.node(index)).ok_or_else(WebDriverError::stale)?;
    let (x, y) = node.rect.centre();
    if node.press.is_some() && node.enabled && screen.hit(x, y).is_none_or(|hit| hit.key != node.key) {
        return Err(WebDriverError::invalid_state("The element is not hittable: something else is over it"));
    }
    Ok((x, y))
}

fn type_into(state: &mut State, index: usize, request: &Command) -> CommandResult {
    let text = typed(request)?;
    let screen = state.device.screen();
    let node = screen.node(index).ok_or_else(WebDriverError::stale)?;
    if node.kind == "PickerWheel" {
        let size = SIZES.iter().position(|size| *size == text);
        let missing = || WebDriverError::invalid_state(format!("The picker wheel has no value '{text}'"));
        state.device.app.size = size.ok_or_else(missing)?;
        return Ok(Value::Null);
    }
    let Some(TouchAction::Focus(_)) = node.press else { return Err(no_focus()) };
    touch(state, index)?;
    state.device.app.type_text(&text);
    Ok(Value::Null)
}

fn no_focus() -> WebDriverError {
    WebDriverError::invalid_state("The element has no keyboard focus, and nothing can be typed")
}

/// The text to type: a string, or a list of its characters.
fn typed(request: &Command) -> Result<String, WebDriverError> {
    let value = request.body.get("value").or_else(|| request.body.get("text"));
    match value {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(parts)) => Ok(parts.iter().filter_map(Value::as_str).collect()),
        _ => Err(WebDriverError::invalid_argument("Neither 'value' nor 'text' parameter is provided")),
    }
}

fn clear(state: &mut State, index: usize) -> CommandResult {
    let screen = state.device.screen();
    let field: Option<Field> = match screen.node(index).and_then(|node| node.press.clone()) {
        Some(TouchAction::Focus(field)) => Some(field),
        _ => None,
    };
    let field = field.ok_or_else(|| WebDriverError::invalid_state("Only text fields can be cleared"))?;
    reachable(state, index)?;
    state.device.app.text(field).clear();
    Ok(Value::Null)
}
