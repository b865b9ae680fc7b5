//! Recordings: the steps of a session as a file for replay.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use failwell_fault::{Fault, OrFault};
use failwell_sdk::{Context, Tool, Toolbox, TypedOutcome, with_state};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::SessionArgument;
use super::batch::{BatchResult, StopRule, play, read};
use crate::artifacts::{ArtifactKind, ArtifactLink};
use crate::reason;
use crate::sessions::DeviceSessions;
use crate::sessions::lease::DeviceLease;
use crate::sessions::log::{MOST_RECORDED, RecordedStep};

pub(super) fn add(toolbox: Toolbox, devices: &Arc<DeviceSessions>) -> Result<Toolbox, Fault> {
    Ok(toolbox
        .tool(Tool::typed_outcome("start_recording", "Records all further actions and assertions of the session, with selectors for the elements.", with_state(devices, start))?.titled("Start recording"))
        .tool(Tool::typed_outcome("stop_recording", "Ends the recording and stores it as a file. Returns its steps, and its uri for replay.", with_state(devices, stop))?.titled("Stop recording"))
        .tool(Tool::typed_outcome("replay", "Repeats the steps of a recording. values replaces placeholders of the form ${name}, such as passwords.", with_state(devices, replay))?.titled("Replay a recording")))
}

/// The format of a recording.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordingFile {
    format: String,
    version: u32,
    device: String,
    steps: Vec<RecordedStep>,
}

const FORMAT: &str = "failwell-device-recording";

/// That a recording runs.
#[derive(Debug, Serialize, JsonSchema)]
struct StartRecordingResult {
    recording: bool,
}

async fn start(
    devices: Arc<DeviceSessions>,
    given: SessionArgument,
    cx: Context,
) -> Result<TypedOutcome<StartRecordingResult>, Fault> {
    let session = devices.session(given.session.as_deref(), &cx)?;
    session.log().start_recording();
    Ok(TypedOutcome::new(StartRecordingResult { recording: true }, "recording"))
}

/// A recording.
#[derive(Debug, Serialize, JsonSchema)]
struct StopRecordingResult {
    recording: ArtifactLink,
    steps: Vec<RecordedStep>,
}

async fn stop(
    devices: Arc<DeviceSessions>,
    given: SessionArgument,
    cx: Context,
) -> Result<TypedOutcome<StopRecordingResult>, Fault> {
    let session = devices.session(given.session.as_deref(), &cx)?;
    let steps = session.log().stop_recording();
    let steps = steps.ok_or_else(|| Fault::new(&reason::DEVICE_NOT_RECORDING))?;
    let file = RecordingFile {
        format: FORMAT.to_owned(),
        version: 1,
        device: session.slot.settings.name.clone(),
        steps: steps.clone(),
    };
    let bytes = serde_json::to_vec_pretty(&file).or_fault(&reason::SERVER_BUG)?;
    let recording =
        devices.artifacts.put(&session.owner, ArtifactKind::Recording, Bytes::from(bytes)).await?;
    let text = format!("{} steps, kept at {}", steps.len(), recording.uri);
    let block = recording.block("recording");
    Ok(TypedOutcome::new(StopRecordingResult { recording, steps }, text).with(block))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Replay {
    /// The session. Optional while you have only one.
    #[schemars(length(min = 1, max = 64))]
    session: Option<String>,
    /// The recording: the uri from stop_recording.
    #[schemars(length(min = 1, max = 500))]
    uri: String,
    /// The values of ${name} in the texts.
    #[serde(default)]
    #[schemars(length(max = 50))]
    values: BTreeMap<String, String>,
    /// Continue after a step that cannot be performed.
    #[serde(default)]
    keep_going: bool,
    /// Stop at an assertion that does not hold.
    #[serde(default)]
    stop_on_finding: bool,
}

async fn replay(
    devices: Arc<DeviceSessions>,
    given: Replay,
    cx: Context,
) -> Result<TypedOutcome<BatchResult>, Fault> {
    let session = devices.session(given.session.as_deref(), &cx)?;
    let (_, bytes) = devices.artifacts.read(&session.owner, &given.uri).await?;
    let plan = read(&fill_secrets(parse(&bytes)?, &given.values)?)?;
    let lease = DeviceLease::enter(devices, session).await?;
    let rule = StopRule { keep_going: given.keep_going, stop_on_finding: given.stop_on_finding };
    Ok(play(&lease, plan, rule, &cx).await)
}

fn refuse(number: usize, why: &'static str) -> Fault {
    Fault::new(&reason::DEVICE_BAD_RECORDING).fact("number", number).fact("why", why)
}

fn parse(bytes: &[u8]) -> Result<Vec<RecordedStep>, Fault> {
    let file: RecordingFile = serde_json::from_slice(bytes)
        .map_err(|error| refuse(0, "the file is no recording").because(error))?;
    if file.format != FORMAT || file.version != 1 {
        return Err(refuse(0, "the file is no recording of this version"));
    }
    if file.steps.len() > MOST_RECORDED {
        return Err(refuse(MOST_RECORDED, "the recording is too long"));
    }
    Ok(file.steps)
}

/// Replaces the placeholders of secrets with their values.
fn fill_secrets(
    mut steps: Vec<RecordedStep>,
    values: &BTreeMap<String, String>,
) -> Result<Vec<RecordedStep>, Fault> {
    for (index, step) in steps.iter_mut().enumerate() {
        let name = step.arguments.get("secret_name").and_then(Value::as_str).map(str::to_owned);
        let Some(name) = name else { continue };
        let value = values.get(&name);
        let value = value.ok_or_else(|| refuse(index + 1, "values has nothing for its secret"))?;
        step.arguments.insert("text".to_owned(), Value::String(value.clone()));
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{fill_secrets, parse};

    const GOOD: &str = r#"{"format":"failwell-device-recording","version":1,"device":"d","steps":[{"tool":"enter_text","arguments":{"selector":"p","text":"${pass}","secret_name":"pass"}}]}"#;

    #[test]
    fn recordings_are_read_whole_or_not_at_all() {
        assert_eq!(parse(GOOD.as_bytes()).unwrap().len(), 1);
        for bad in
            ["", "{}", "[]", &GOOD.replace("\"version\":1", "\"version\":2"), &GOOD.replace("tool", "tol")]
        {
            assert_eq!(parse(bad.as_bytes()).unwrap_err().reason().id, "device/BAD_RECORDING", "{bad}");
        }
    }

    #[test]
    fn secrets_are_filled_in_or_asked_for() {
        let steps = parse(GOOD.as_bytes()).unwrap();
        assert!(fill_secrets(steps.clone(), &BTreeMap::new()).is_err());
        let values = BTreeMap::from([("pass".to_owned(), "hush".to_owned())]);
        let steps = fill_secrets(steps, &values).unwrap();
        assert_eq!(steps[0].arguments["text"], "hush");
    }
}
