//! Actions of the `WebDriver` standard, as far as the runner has them: touches and keys.

use serde_json::Value;

use super::touch;
use crate::phone::device::Device;
use crate::webdriver::webdriver_error::WebDriverError;

/// The most steps of one command.
const MOST_STEPS: usize = 10_000;

/// Says where an element is, by its id.
type ElementLocator<'a> = &'a dyn Fn(&Device, &str) -> Result<(i32, i32), WebDriverError>;

/// One finger on its way.
#[derive(Default)]
struct Finger {
    at: (i32, i32),
    /// Where and when it came down.
    down: Option<((i32, i32), u64)>,
    clock: u64,
}

/// Performs the sequences; `place` says where an element is.
pub(crate) fn perform(
    device: &mut Device,
    body: &Value,
    place: ElementLocator<'_>,
) -> Result<(), WebDriverError> {
    let sequences = body.get("actions").and_then(Value::as_array);
    let sequences =
        sequences.ok_or_else(|| WebDriverError::invalid_argument("'actions' has to be a list"))?;
    let steps: usize = sequences.iter().map(|sequence| steps_of(sequence).len()).sum();
    if steps > MOST_STEPS {
        return Err(WebDriverError::invalid_argument(format!("more than {MOST_STEPS} actions")));
    }
    let fingers = sequences.iter().filter(|sequence| kind(sequence) == "pointer").count();
    for sequence in sequences {
        match kind(sequence) {
            "pointer" => {
                let pointer =
                    sequence.pointer("/parameters/pointerType").and_then(Value::as_str).unwrap_or("mouse");
                if pointer != "touch" {
                    let message = format!("Only touch pointers are supported, '{pointer}' was given");
                    return Err(WebDriverError::invalid_argument(message));
                }
                let touches = follow(device, steps_of(sequence), place)?;
                // Two fingers at once pinch or turn, and nothing here does that.
                for (from, to, milliseconds) in touches.into_iter().filter(|_| fingers == 1) {
                    touch(device, from, to, milliseconds);
                }
            }
            "key" => type_keys(device, steps_of(sequence)),
            "none" | "pause" => {}
            other => {
                return Err(WebDriverError::invalid_argument(format!(
                    "there is no source of type '{other}'"
                )));
            }
        }
    }
    Ok(())
}

fn kind(sequence: &Value) -> &str {
    sequence.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn steps_of(sequence: &Value) -> &[Value] {
    sequence.get("actions").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

type TouchPath = ((i32, i32), (i32, i32), u64);

fn follow(
    device: &Device,
    steps: &[Value],
    place: ElementLocator<'_>,
) -> Result<Vec<TouchPath>, WebDriverError> {
    let mut finger = Finger::default();
    let mut touches = vec![];
    for step in steps {
        let duration = step.get("duration").and_then(Value::as_u64).unwrap_or_default();
        match kind(step) {
            "pointerMove" => {
                finger.at = target(device, step, finger.at, place)?;
                finger.clock += duration;
            }
            "pointerDown" => finger.down = Some((finger.at, finger.clock)),
            "pointerUp" => {
                if let Some((from, since)) = finger.down.take() {
                    touches.push((from, finger.at, finger.clock - since));
                }
            }
            "pause" => finger.clock += duration,
            "pointerCancel" => finger.down = None,
            other => return Err(WebDriverError::invalid_argument(format!("there is no action '{other}'"))),
        }
    }
    Ok(touches)
}

fn target(
    device: &Device,
    step: &Value,
    at: (i32, i32),
    place: ElementLocator<'_>,
) -> Result<(i32, i32), WebDriverError> {
    #[allow(clippy::cast_possible_truncation, reason = "points of a screen are small numbers")]
    let side = |name: &str| {
        step.get(name).and_then(Value::as_f64).unwrap_or_default().round().clamp(-1e5, 1e5) as i32
    };
    let by = (side("x"), side("y"));
    let from = match step.get("origin") {
        None => (0, 0),
        Some(Value::String(origin)) if origin == "viewport" => (0, 0),
        Some(Value::String(origin)) if origin == "pointer" => at,
        Some(Value::Object(element)) => {
            let id = element.values().find_map(Value::as_str).unwrap_or_default();
            place(device, id)?
        }
        Some(_) => {
            return Err(WebDriverError::invalid_argument(
                "the origin is neither viewport, pointer nor an element",
            ));
        }
    };
    Ok((from.0 + by.0, from.1 + by.1))
}

fn type_keys(device: &mut Device, steps: &[Value]) {
    for step in steps.iter().filter(|step| kind(step) == "keyDown") {
        let key = step.get("value").and_then(Value::as_str).unwrap_or_default();
        let key = if matches!(key, "\u{e006}" | "\u{e007}") { "\n" } else { key };
        device.app.type_text(key);
    }
}
