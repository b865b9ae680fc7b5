//! The tools for devices and sessions.

use std::sync::Arc;
use std::time::Duration;

use failwell_fault::Fault;
use failwell_sdk::{Context, Tool, Toolbox, TypedOutcome, run_to_completion, with_state};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::SessionArgument;
use crate::sessions::{DeviceSessions, Session, SessionStatus};

pub(super) fn add(toolbox: Toolbox, devices: &Arc<DeviceSessions>) -> Result<Toolbox, Fault> {
    Ok(toolbox
        .tool(Tool::typed_outcome("list_devices", "Lists the devices, with the driver of each and whether it is free.", with_state(devices, list_devices))?.titled("List devices").read_only())
        .tool(Tool::typed_outcome("start_session", "Starts a session on a device: its driver if it is not running, and the app or browser. Stop it with stop_session. An unused session ends after a time limit.", with_state(devices, start))?.titled("Start a session"))
        .tool(Tool::typed_outcome("list_sessions", "Lists your sessions.", with_state(devices, list))?.titled("List sessions").read_only())
        .tool(Tool::typed_outcome("recover_session", "Restarts a lost session under the same id. References, report and recording continue; the app is restarted.", with_state(devices, recover))?.titled("Recover a session"))
        .tool(Tool::typed_outcome("stop_session", "Ends a session and frees its device.", with_state(devices, stop))?.titled("Stop a session").idempotent()))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArguments {}

/// All devices.
#[derive(Debug, Serialize, JsonSchema)]
struct DeviceList {
    devices: Vec<DeviceView>,
}

/// One device.
#[derive(Debug, Serialize, JsonSchema)]
struct DeviceView {
    name: String,
    /// The driver of the device.
    driver: &'static str,
    /// The maximum number of concurrent sessions.
    sessions: usize,
    /// The number of sessions in use.
    in_use: usize,
}

async fn list_devices(
    devices: Arc<DeviceSessions>,
    _: NoArguments,
    _cx: Context,
) -> Result<TypedOutcome<DeviceList>, Fault> {
    let devices: Vec<DeviceView> = devices
        .slots
        .iter()
        .map(|slot| DeviceView {
            name: slot.settings.name.clone(),
            driver: slot.settings.driver.as_str(),
            sessions: slot.settings.sessions.max(1),
            in_use: devices.in_use(slot),
        })
        .collect();
    let line = |it: &DeviceView| {
        format!("{} ({}): {} of {} sessions in use", it.name, it.driver, it.in_use, it.sessions)
    };
    let text: Vec<String> = devices.iter().map(line).collect();
    let text = if text.is_empty() { "no device is configured".to_owned() } else { text.join("\n") };
    Ok(TypedOutcome::new(DeviceList { devices }, text))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StartSession {
    /// The name of the device from list_devices; default: the first.
    #[schemars(length(min = 1, max = 200))]
    device: Option<String>,
    /// W3C capabilities in addition to the operator's. Only harmless ones are allowed.
    #[serde(default)]
    #[schemars(length(max = 50))]
    capabilities: Map<String, Value>,
    /// The maximum wait for a device in use, in seconds; default 0.
    #[schemars(range(min = 0, max = 600))]
    wait_s: Option<f64>,
}

/// One session.
#[derive(Debug, Serialize, JsonSchema)]
struct SessionView {
    /// Pass it as session.
    session: String,
    device: String,
    driver: &'static str,
    state: SessionStatus,
    /// Whether a recording runs.
    recording: bool,
    /// Tools called so far.
    steps: u64,
    /// Since the last call, in seconds.
    idle_s: f64,
    /// The idle timeout in seconds, after which the session ends.
    idle_limit_s: f64,
    /// The capabilities that the driver reports.
    about: Value,
}

fn view(devices: &DeviceSessions, session: &Session) -> SessionView {
    let log = session.log();
    SessionView {
        session: session.id.clone(),
        device: session.slot.settings.name.clone(),
        driver: session.slot.settings.driver.as_str(),
        state: session.status(),
        recording: log.is_recording(),
        steps: log.made(),
        idle_s: session.idle().as_secs_f64(),
        idle_limit_s: devices.settings.idle.as_secs_f64(),
        about: session.device().map(|device| device.capabilities()).unwrap_or_default(),
    }
}

async fn start(
    devices: Arc<DeviceSessions>,
    given: StartSession,
    cx: Context,
) -> Result<TypedOutcome<SessionView>, Fault> {
    let slot = devices.slot(given.device.as_deref())?;
    let wait = Duration::try_from_secs_f64(given.wait_s.unwrap_or(0.0)).unwrap_or_default();
    cx.progress(0.0, None, Some("starting")).await;
    // The start runs to its end even if the caller cancels. Otherwise the driver would have a session without
    // an owner.
    let work = {
        let (devices, cx) = (devices.clone(), cx.clone());
        async move { devices.start(slot, &given.capabilities, wait, &cx).await }
    };
    let session = run_to_completion(work).await?;
    let view = view(&devices, &session);
    let text = format!("session {} on {} ({})", view.session, view.device, view.driver);
    Ok(TypedOutcome::new(view, text))
}

/// All sessions of a caller.
#[derive(Debug, Serialize, JsonSchema)]
struct SessionList {
    sessions: Vec<SessionView>,
}

async fn list(
    devices: Arc<DeviceSessions>,
    _: NoArguments,
    cx: Context,
) -> Result<TypedOutcome<SessionList>, Fault> {
    let sessions: Vec<SessionView> =
        devices.of_caller(&cx).iter().map(|session| view(&devices, session)).collect();
    let line = |it: &SessionView| {
        let state = if it.state == SessionStatus::Open { "open" } else { "lost" };
        format!("{} on {} ({}): {state}, {} steps", it.session, it.device, it.driver, it.steps)
    };
    let text: Vec<String> = sessions.iter().map(line).collect();
    let text = if text.is_empty() { "no session is open".to_owned() } else { text.join("\n") };
    Ok(TypedOutcome::new(SessionList { sessions }, text))
}

async fn recover(
    devices: Arc<DeviceSessions>,
    given: SessionArgument,
    cx: Context,
) -> Result<TypedOutcome<SessionView>, Fault> {
    let session = devices.session(given.session.as_deref(), &cx)?;
    let work = {
        let (devices, session) = (devices.clone(), session.clone());
        async move {
            let _turn = session.turn(devices.settings.queue_wait).await?;
            devices.recover(&session).await
        }
    };
    run_to_completion(work).await?;
    Ok(TypedOutcome::new(
        view(&devices, &session),
        format!("session {} goes on with a fresh app", session.id),
    ))
}

/// The session that was stopped.
#[derive(Debug, Serialize, JsonSchema)]
struct StopSessionResult {
    session: String,
    /// Tools called in it.
    steps: u64,
}

async fn stop(
    devices: Arc<DeviceSessions>,
    given: SessionArgument,
    cx: Context,
) -> Result<TypedOutcome<StopSessionResult>, Fault> {
    let session = devices.session(given.session.as_deref(), &cx)?;
    let work = {
        let (devices, session) = (devices.clone(), session.clone());
        async move {
            // The result is ignored: a session with a hanging call is ended too.
            let _turn = session.turn(Duration::from_secs(5)).await;
            devices.end(&session).await
        }
    };
    run_to_completion(work).await?;
    let steps = session.log().made();
    let text = format!("stopped {} after {steps} steps", session.id);
    Ok(TypedOutcome::new(StopSessionResult { session: session.id.clone(), steps }, text))
}
