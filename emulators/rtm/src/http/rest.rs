//! One call of a method: the rate, the faults that were asked for, the method, the answer.

use std::time::Duration;

use failwell_emulator_props::Stage;
use serde_json::Value;
use tokio::time::sleep;

use super::body::Body;
use super::{Given, response, sent};
use crate::answer::{self, Element};
use crate::calls::Call;
use crate::emulator::Service;
use crate::fault::{Fault, Kind};
use crate::gate::{self, Wanted};
use crate::limiter::Pass;
use crate::page;
use crate::params::Params;
use crate::refusal::{self, Outcome, Refusal};

pub(super) async fn answer(service: &Service, params: Params) -> Given {
    let method = params.get("method").unwrap_or_default().to_owned();
    let (mut call, pass, fault) = {
        let mut state = service.state();
        let pass = state.limiter.ask();
        let fault = if pass == Pass::Refused { None } else { state.faults.strike(&method) };
        let call = Call {
            number: 0,
            method,
            params: params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            at: state.clock.now(),
            since_start: service.started.elapsed(),
            held_back: Duration::ZERO,
            outcome: String::new(),
            committed: false,
        };
        (call, pass, fault)
    };
    let Pass::After(wait) = pass else {
        call.outcome = "503".to_owned();
        service.state().calls.push(call);
        return unavailable(503);
    };
    call.held_back = wait;
    sleep(wait).await;
    given(service, &params, call, fault).await
}

/// Runs the method unless a fault comes first, writes the call down, and answers.
async fn given(service: &Service, params: &Params, mut call: Call, fault: Option<Fault>) -> Given {
    let kind = fault.as_ref().map(|fault| fault.kind.clone());
    let replaced = kind.as_ref().is_some_and(Kind::replaces_answer);
    let runs = fault.as_ref().is_none_or(|fault| !replaced || fault.stage == Stage::After);
    // A cut answer is one that was on its way.
    let runs = runs || kind == Some(Kind::Truncate);
    let outcome = {
        let mut state = service.state();
        let outcome = runs.then(|| gate::perform(&mut state, params));
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
        None => written(params, outcome.unwrap_or(Err(refusal::UNAVAILABLE)), None),
        Some(Kind::Reset) => Given::Reset,
        Some(Kind::Unavailable) => unavailable(503),
        Some(Kind::Status { status }) => unavailable(status),
        Some(Kind::Html) => unavailable(200),
        Some(Kind::Refuse { code, message }) => written(params, Err(refused(code, message)), None),
        Some(kind) => {
            if let Kind::Delay { .. } = kind {
                sleep(kind.wait()).await;
            }
            written(params, outcome.unwrap_or(Err(refusal::UNAVAILABLE)), Some(&kind))
        }
    }
}

fn refused(code: u32, message: String) -> Refusal {
    match (message.is_empty(), code) {
        (true, 105) => refusal::UNAVAILABLE,
        (true, _) => Refusal::new(code, "Something went wrong."),
        (false, _) => Refusal { code, message: message.into() },
    }
}

/// The answer, bent as the fault says.
fn written(params: &Params, outcome: Outcome<Vec<Element>>, bend: Option<&Kind>) -> Given {
    let Wanted { format, single, .. } = Wanted::of(params);
    let envelope = answer::envelope(outcome);
    let json: Value = answer::json(&envelope, single);
    let json = match bend {
        Some(Kind::Flip) => answer::flipped(json),
        Some(Kind::UnknownFields) => answer::with_strangers(json),
        _ => json,
    };
    let (text, content_type) = answer::write(&envelope, &json, &format);
    let body = match bend {
        Some(kind @ Kind::SlowBody { .. }) => Body::slow(text, kind.wait()),
        Some(Kind::Truncate) => Body::broken(text),
        _ => Body::whole(text),
    };
    Given::Response(response(200, content_type, body))
}

fn unavailable(status: u16) -> Given {
    sent(status, "text/html; charset=utf-8", page::unavailable())
}
