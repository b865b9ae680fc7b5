//! Devices and sessions.

use std::sync::Arc;
use std::time::Duration;

use failwell_fault::Fault;
use failwell_server::{Context, Toolbox, see_through};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Said, tool};
use crate::sessions::{Desk, Session, Standing};

pub(super) fn add(toolbox: Toolbox, desk: &Arc<Desk>) -> Result<Toolbox, Fault> {
    Ok(toolbox
        .tool(tool(desk, ("list_devices", "List devices", "Lists the devices there are, what drives each, and whether it is free."), list_devices)?.read_only())
        .tool(tool(desk, ("start_session", "Start a session", "Starts working on a device: starts its driver if need be, and the app or browser. Stop it with stop_session; one that is not used ends by itself."), start)?)
        .tool(tool(desk, ("list_sessions", "List sessions", "Lists your sessions."), list)?.read_only())
        .tool(tool(desk, ("recover_session", "Recover a session", "Starts a lost session anew under its own id: references, report and recording go on, the app begins afresh."), recover)?)
        .tool(tool(desk, ("stop_session", "Stop a session", "Ends a session and frees its device."), stop)?.idempotent()))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// All devices.
#[derive(Debug, Serialize, JsonSchema)]
struct Devices {
    devices: Vec<DeviceView>,
}

/// One device.
#[derive(Debug, Serialize, JsonSchema)]
struct DeviceView {
    name: String,
    /// What drives it.
    driver: &'static str,
    /// How many sessions it may have at once.
    sessions: usize,
    /// How many of these are in use.
    in_use: usize,
}

async fn list_devices(desk: Arc<Desk>, _: Nothing, _cx: Context) -> Result<Said<Devices>, Fault> {
    let devices: Vec<DeviceView> = desk
        .posts
        .iter()
        .map(|post| DeviceView {
            name: post.settings.name.clone(),
            driver: post.settings.driver.as_str(),
            sessions: post.settings.sessions.max(1),
            in_use: desk.in_use(post),
        })
        .collect();
    let line = |it: &DeviceView| {
        format!("{} ({}): {} of {} sessions in use", it.name, it.driver, it.in_use, it.sessions)
    };
    let text: Vec<String> = devices.iter().map(line).collect();
    let text = if text.is_empty() { "no device is configured".to_owned() } else { text.join("\n") };
    Ok(Said::new(Devices { devices }, text))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Start {
    /// The device, as list_devices names it; the first one unless given.
    #[schemars(length(min = 1, max = 200))]
    device: Option<String>,
    /// W3C capabilities beside those the operator set; harmless ones alone are allowed.
    #[serde(default)]
    #[schemars(length(max = 50))]
    capabilities: Map<String, Value>,
    /// How many seconds to wait for a device that is in use; 0 unless given.
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
    state: Standing,
    /// Whether a recording runs.
    recording: bool,
    /// Tools called so far.
    steps: u64,
    /// Since the last call, in seconds.
    idle_s: f64,
    /// After so many seconds without a call it ends by itself.
    idle_limit_s: f64,
    /// What the driver says about the device.
    about: Value,
}

fn view(desk: &Desk, session: &Session) -> SessionView {
    let log = session.log();
    SessionView {
        session: session.id.clone(),
        device: session.post.settings.name.clone(),
        driver: session.post.settings.driver.as_str(),
        state: session.standing(),
        recording: log.is_recording(),
        steps: log.made(),
        idle_s: session.idle().as_secs_f64(),
        idle_limit_s: desk.settings.idle.as_secs_f64(),
        about: session.device().map(|device| device.described()).unwrap_or_default(),
    }
}

async fn start(desk: Arc<Desk>, given: Start, cx: Context) -> Result<Said<SessionView>, Fault> {
    let post = desk.post(given.device.as_deref())?;
    let wait = Duration::try_from_secs_f64(given.wait_s.unwrap_or(0.0)).unwrap_or_default();
    cx.progress(0.0, None, Some("starting")).await;
    // A session the driver has begun must have an owner, who may come back for it.
    let work = {
        let (desk, cx) = (desk.clone(), cx.clone());
        async move { desk.start(post, &given.capabilities, wait, &cx).await }
    };
    let session = see_through(work).await?;
    let view = view(&desk, &session);
    let text = format!("session {} on {} ({})", view.session, view.device, view.driver);
    Ok(Said::new(view, text))
}

/// All sessions of a caller.
#[derive(Debug, Serialize, JsonSchema)]
struct Sessions {
    sessions: Vec<SessionView>,
}

async fn list(desk: Arc<Desk>, _: Nothing, cx: Context) -> Result<Said<Sessions>, Fault> {
    let sessions: Vec<SessionView> = desk.of_caller(&cx).iter().map(|session| view(&desk, session)).collect();
    let line = |it: &SessionView| {
        let state = if it.state == Standing::Open { "open" } else { "lost" };
        format!("{} on {} ({}): {state}, {} steps", it.session, it.device, it.driver, it.steps)
    };
    let text: Vec<String> = sessions.iter().map(line).collect();
    let text = if text.is_empty() { "no session is open".to_owned() } else { text.join("\n") };
    Ok(Said::new(Sessions { sessions }, text))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OneSession {
    /// The session; may be left out while you have one.
    #[schemars(length(min = 1, max = 64))]
    session: Option<String>,
}

async fn recover(desk: Arc<Desk>, given: OneSession, cx: Context) -> Result<Said<SessionView>, Fault> {
    let session = desk.session(given.session.as_deref(), &cx)?;
    let work = {
        let (desk, session) = (desk.clone(), session.clone());
        async move {
            let _turn = session.turn(desk.settings.queue_wait).await?;
            desk.recover(&session).await
        }
    };
    see_through(work).await?;
    Ok(Said::new(view(&desk, &session), format!("session {} goes on with a fresh app", session.id)))
}

/// The session that was stopped.
#[derive(Debug, Serialize, JsonSchema)]
struct Stopped {
    session: String,
    /// Tools called in it.
    steps: u64,
}

async fn stop(desk: Arc<Desk>, given: OneSession, cx: Context) -> Result<Said<Stopped>, Fault> {
    let session = desk.session(given.session.as_deref(), &cx)?;
    let work = {
        let (desk, session) = (desk.clone(), session.clone());
        async move {
            // One that hangs is ended all the same.
            let _turn = session.turn(Duration::from_secs(5)).await;
            desk.end(&session).await
        }
    };
    see_through(work).await?;
    let steps = session.log().made();
    let text = format!("stopped {} after {steps} steps", session.id);
    Ok(Said::new(Stopped { session: session.id.clone(), steps }, text))
}
