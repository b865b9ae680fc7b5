//! Recordings: what was done in a session, as a file that can be played again.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use failwell_fault::{Fault, OrFault, reason};
use failwell_server::{Context, Toolbox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::batch::{Manner, Results, play, read};
use super::{Said, tool};
use crate::keep::{Link, Sort};
use crate::log::{MOST_RECORDED, Written};
use crate::sessions::Desk;
use crate::stage::Stage;

pub(super) fn add(toolbox: Toolbox, desk: &Arc<Desk>) -> Result<Toolbox, Fault> {
    Ok(toolbox
        .tool(tool(desk, ("start_recording", "Start recording", "Records what is done in the session from here on: actions and assertions, elements by their selectors."), start)?)
        .tool(tool(desk, ("stop_recording", "Stop recording", "Ends the recording and keeps it as a file; gives its steps and its uri, for replay."), stop)?)
        .tool(tool(desk, ("replay", "Replay a recording", "Makes the steps of a recording again. values fills in what stands as ${name}, such as passwords."), replay)?))
}

/// What a recording is, as a file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    version: u32,
    device: String,
    steps: Vec<Written>,
}

const FORMAT: &str = "failwell-device-recording";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OneSession {
    /// The session; may be left out while you have one.
    #[schemars(length(min = 1, max = 64))]
    session: Option<String>,
}

/// That a recording runs.
#[derive(Debug, Serialize, JsonSchema)]
struct Begun {
    recording: bool,
}

async fn start(desk: Arc<Desk>, given: OneSession, cx: Context) -> Result<Said<Begun>, Fault> {
    let session = desk.session(given.session.as_deref(), &cx)?;
    session.log().start_recording();
    Ok(Said::new(Begun { recording: true }, "recording"))
}

/// A recording.
#[derive(Debug, Serialize, JsonSchema)]
struct Recorded {
    recording: Link,
    steps: Vec<Written>,
}

async fn stop(desk: Arc<Desk>, given: OneSession, cx: Context) -> Result<Said<Recorded>, Fault> {
    let session = desk.session(given.session.as_deref(), &cx)?;
    let steps = session.log().stop_recording();
    let steps = steps.ok_or_else(|| Fault::new(&reason::DEVICE_NOT_RECORDING))?;
    let file = File {
        format: FORMAT.to_owned(),
        version: 1,
        device: session.post.settings.name.clone(),
        steps: steps.clone(),
    };
    let bytes = serde_json::to_vec_pretty(&file).or_fault(&reason::SERVER_BUG)?;
    let recording = desk.keep.put(Sort::Recording, Bytes::from(bytes)).await?;
    let text = format!("{} steps, kept at {}", steps.len(), recording.uri);
    let block = recording.block("recording");
    let mut said = Said::new(Recorded { recording, steps }, text);
    said.blocks.push(block);
    Ok(said)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Replay {
    /// The session; may be left out while you have one.
    #[schemars(length(min = 1, max = 64))]
    session: Option<String>,
    /// The recording, as stop_recording gave it.
    #[schemars(length(min = 1, max = 500))]
    uri: String,
    /// What stands for ${name} in the texts.
    #[serde(default)]
    #[schemars(length(max = 50))]
    values: BTreeMap<String, String>,
    /// Go on after a step that could not be done.
    #[serde(default)]
    keep_going: bool,
    /// Stop at an assertion that does not hold.
    #[serde(default)]
    stop_on_finding: bool,
}

async fn replay(desk: Arc<Desk>, given: Replay, cx: Context) -> Result<Said<Results>, Fault> {
    let session = desk.session(given.session.as_deref(), &cx)?;
    let (_, bytes) = desk.keep.read(&given.uri).await?;
    let script = read(&filled(parse(&bytes)?, &given.values)?)?;
    let stage = Stage::enter(desk, session).await?;
    let manner = Manner { keep_going: given.keep_going, stop_on_finding: given.stop_on_finding };
    Ok(play(&stage, script, manner, &cx).await)
}

fn refuse(number: usize, why: &'static str) -> Fault {
    Fault::new(&reason::DEVICE_BAD_RECORDING).fact("number", number).fact("why", why)
}

fn parse(bytes: &[u8]) -> Result<Vec<Written>, Fault> {
    let file: File = serde_json::from_slice(bytes)
        .map_err(|error| refuse(0, "the file is no recording").because(error))?;
    if file.format != FORMAT || file.version != 1 {
        return Err(refuse(0, "the file is no recording of this version"));
    }
    if file.steps.len() > MOST_RECORDED {
        return Err(refuse(MOST_RECORDED, "the recording is too long"));
    }
    Ok(file.steps)
}

/// Puts values in the places of secrets.
fn filled(mut steps: Vec<Written>, values: &BTreeMap<String, String>) -> Result<Vec<Written>, Fault> {
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

    use super::{filled, parse};

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
        assert!(filled(steps.clone(), &BTreeMap::new()).is_err());
        let values = BTreeMap::from([("pass".to_owned(), "hush".to_owned())]);
        let steps = filled(steps, &values).unwrap();
        assert_eq!(steps[0].arguments["text"], "hush");
    }
}
