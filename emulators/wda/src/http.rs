//! The WebDriver endpoint: parses a command, applies an injected fault, runs the command, and writes the response.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use failwell_emulator_http::{Body, ControlReply, FaultStage, Handler, Reply, SharedState};
use http::Method;
use http::request::Parts;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::Control;
use crate::call::{Call, LARGEST_KEPT};
use crate::fault_kind::{Fault, FaultKind};
use crate::state::State;
use crate::webdriver::routes;
use crate::webdriver::routes::Command;
use crate::webdriver::webdriver_error::{CommandResult, WebDriverError};

/// How long a command that hangs does so: longer than any client waits.
const HANG: Duration = Duration::from_secs(3_600);

/// Answers commands from the shared state.
pub(crate) struct WdaHandler {
    shared: Arc<SharedState<State>>,
}

impl WdaHandler {
    pub(crate) fn new(shared: Arc<SharedState<State>>) -> WdaHandler {
        WdaHandler { shared }
    }
}

impl Handler for WdaHandler {
    async fn handle(&self, head: Parts, body: Bytes) -> Reply {
        match parse(head.method, head.uri.path(), head.uri.query(), &body) {
            Ok(request) => execute(&self.shared, request).await,
            Err(refusal) => write_response(&self.shared, Err(refusal), None),
        }
    }

    fn control(&self, method: &Method, action: &str, body: &[u8]) -> ControlReply {
        Control::new(self.shared.clone()).perform(method, action, body).into()
    }
}

fn parse(method: Method, path: &str, query: Option<&str>, body: &[u8]) -> Result<Command, WebDriverError> {
    let mut parts: Vec<String> = path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    let session = match parts.as_slice() {
        [first, id, ..] if first == "session" => Some(id.clone()),
        _ => None,
    };
    if session.is_some() {
        parts.drain(..2);
    }
    let query = form_urlencoded::parse(query.unwrap_or_default().as_bytes()).into_owned().collect();
    let body = if body.is_empty() {
        Value::Null
    } else {
        serde_json::from_slice(body).map_err(|_| WebDriverError::invalid_argument("the body is not JSON"))?
    };
    Ok(Command { method, session, path: parts, query, body })
}

/// Runs the command unless a fault comes first, logs it, and answers.
async fn execute(shared: &SharedState<State>, request: Command) -> Reply {
    let command = request.command();
    let (outcome, fault) = {
        let mut state = shared.lock();
        let fault = state.faults.take(&command);
        let kind = fault.as_ref().map(|fault| &fault.kind);
        match kind {
            Some(FaultKind::Alert) => state.device.app.ask_permission(),
            Some(FaultKind::Expire) => state.session = None,
            Some(FaultKind::Stale) => {
                if let Some(session) = &mut state.session {
                    session.forget();
                }
            }
            _ => {}
        }
        let extra = if let Some(FaultKind::LargeScreenshot { bytes }) = kind { *bytes } else { 0 };
        let runs = fault
            .as_ref()
            .is_none_or(|fault| !fault.kind.replaces_answer() || fault.stage == FaultStage::After);
        let outcome = if runs { routes::perform(&mut state, &request, extra) } else { Ok(Value::Null) };
        let came_to = match (kind.and_then(FaultKind::label), &outcome) {
            (Some(label), _) => label.to_owned(),
            (None, Err(refusal)) => refusal.error.clone(),
            (None, Ok(_)) => "ok".to_owned(),
        };
        let small = request.body.to_string().len() <= LARGEST_KEPT;
        state.calls.push(Call {
            number: 0,
            command,
            body: if small { request.body } else { Value::Null },
            since_start: shared.started.elapsed(),
            outcome: came_to,
        });
        (outcome, fault)
    };
    apply_fault(shared, outcome, fault.as_ref()).await
}

/// The response, changed or replaced by the fault.
async fn apply_fault(shared: &SharedState<State>, outcome: CommandResult, fault: Option<&Fault>) -> Reply {
    match fault.map(|fault| &fault.kind) {
        Some(FaultKind::Hang) => {
            sleep(HANG).await;
            Reply::Reset
        }
        Some(FaultKind::Die) => Reply::Kill,
        Some(FaultKind::Reset) => Reply::Reset,
        Some(FaultKind::Html) => {
            Reply::text(502, "text/html; charset=utf-8", "<!doctype html><title>Bad gateway</title>\n")
        }
        Some(FaultKind::Refuse { error, message, status }) => {
            write_response(shared, Err(WebDriverError::new(*status, error, message.clone())), None)
        }
        Some(kind) => {
            sleep(kind.wait()).await;
            write_response(shared, outcome, Some(kind))
        }
        None => write_response(shared, outcome, None),
    }
}

/// A response as WebDriverAgent writes it.
fn write_response(shared: &SharedState<State>, outcome: CommandResult, bend: Option<&FaultKind>) -> Reply {
    let session = shared.lock().session.as_ref().map(|session| session.id.clone());
    let (status, value) = match outcome {
        Ok(value) => (200, value),
        Err(refusal) => (refusal.status, refusal.value()),
    };
    let text = json!({"value": value, "sessionId": session}).to_string();
    let body = if bend == Some(&FaultKind::Truncate) { Body::broken(text) } else { Body::whole(text) };
    Reply::new(status, "application/json;charset=UTF-8", body)
}
