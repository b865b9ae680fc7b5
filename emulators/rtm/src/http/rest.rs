//! One call of a method: the rate, the faults that were asked for, the method, the answer.

use std::time::Duration;

use failwell_emulator_http::{Body, FaultStage, Reply, SharedState};
use serde_json::Value;
use tokio::time::sleep;

use super::limiter::RateDecision;
use super::page;
use crate::api::api_error;
use crate::api::api_error::{ApiError, ApiResult};
use crate::api::checks;
use crate::api::checks::ResponseOptions;
use crate::api::params::Params;
use crate::api::response;
use crate::api::response::Element;
use crate::call::Call;
use crate::fault_kind::{Fault, FaultKind};
use crate::state::State;

pub(super) async fn answer(shared: &SharedState<State>, params: Params) -> Reply {
    let method = params.get("method").unwrap_or_default().to_owned();
    let (mut call, pass, fault) = {
        let mut state = shared.lock();
        let pass = state.limiter.ask();
        let fault = if pass == RateDecision::Refused { None } else { state.faults.take(&method) };
        let call = Call {
            number: 0,
            method,
            params: params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            at: state.clock.now(),
            since_start: shared.started.elapsed(),
            held_back: Duration::ZERO,
            outcome: String::new(),
            committed: false,
        };
        (call, pass, fault)
    };
    let RateDecision::After(wait) = pass else {
        call.outcome = "503".to_owned();
        shared.lock().calls.push(call);
        return unavailable(503);
    };
    call.held_back = wait;
    sleep(wait).await;
    execute(shared, &params, call, fault).await
}

/// Runs the method unless a fault comes first, logs the call, and answers.
async fn execute(
    shared: &SharedState<State>,
    params: &Params,
    mut call: Call,
    fault: Option<Fault>,
) -> Reply {
    let kind = fault.as_ref().map(|fault| fault.kind.clone());
    let replaced = kind.as_ref().is_some_and(FaultKind::replaces_answer);
    let runs = fault.as_ref().is_none_or(|fault| !replaced || fault.stage == FaultStage::After);
    // A truncated response needs a response first.
    let runs = runs || kind == Some(FaultKind::Truncate);
    let outcome = {
        let mut state = shared.lock();
        let outcome = runs.then(|| checks::perform(&mut state, params));
        call.committed = matches!(outcome, Some(Ok(_)));
        call.outcome = match (&kind, &outcome) {
            (Some(kind), _) if replaced => kind.label(),
            (_, Some(Err(refusal))) => refusal.code.to_string(),
            _ => "ok".to_owned(),
        };
        state.calls.push(call);
        outcome
    };
    match kind {
        None => write_response(params, outcome.unwrap_or(Err(api_error::UNAVAILABLE)), None),
        Some(FaultKind::Reset) => Reply::Reset,
        Some(FaultKind::Unavailable) => unavailable(503),
        Some(FaultKind::Status { status }) => unavailable(status),
        Some(FaultKind::Html) => unavailable(200),
        Some(FaultKind::Refuse { code, message }) => {
            write_response(params, Err(refused(code, message)), None)
        }
        Some(kind) => {
            if let FaultKind::Delay { .. } = kind {
                sleep(kind.wait()).await;
            }
            write_response(params, outcome.unwrap_or(Err(api_error::UNAVAILABLE)), Some(&kind))
        }
    }
}

fn refused(code: u32, message: String) -> ApiError {
    match (message.is_empty(), code) {
        (true, 105) => api_error::UNAVAILABLE,
        (true, _) => ApiError::new(code, "Something went wrong."),
        (false, _) => ApiError { code, message: message.into() },
    }
}

/// Writes the response, distorted by the fault.
fn write_response(params: &Params, outcome: ApiResult<Vec<Element>>, bend: Option<&FaultKind>) -> Reply {
    let ResponseOptions { format, single, .. } = ResponseOptions::from_params(params);
    let envelope = response::envelope(outcome);
    let json: Value = response::json(&envelope, single);
    let json = match bend {
        Some(FaultKind::Flip) => response::flip_lists(json),
        Some(FaultKind::UnknownFields) => response::with_unknown_fields(json),
        _ => json,
    };
    let (text, content_type) = response::write(&envelope, &json, &format);
    let body = match bend {
        Some(kind @ FaultKind::SlowBody { .. }) => Body::slow(text, kind.wait()),
        Some(FaultKind::Truncate) => Body::broken(text),
        _ => Body::whole(text),
    };
    Reply::new(200, content_type, body)
}

fn unavailable(status: u16) -> Reply {
    Reply::text(status, "text/html; charset=utf-8", page::unavailable())
}
