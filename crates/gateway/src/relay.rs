//! Calls that cross eras, ask the client questions, or continue as tasks.

mod error_text;
mod pending_calls;
mod result_shape;
mod tasks;
pub(crate) mod tool_errors;

use std::sync::Arc;

use failwell_fault::{Fault, reason};
use failwell_rpc::{Era, Json, Object, Raw};
use failwell_toolbox::{Capability, Context, Question};

pub(crate) use self::pending_calls::PendingCalls;
pub(crate) use self::result_shape::check_shape;
use self::tasks::{follow_session_task, follow_task, read_questions};
use crate::upstream::{
    ClientRelay, ParsedResult, PooledConnection, RequestError, RequestParams, Upstream, UpstreamRequest,
    invalid_response,
};

const MOST_ROUNDS: usize = 8;
/// The key of the upstream's state in the state that a modern client carries.
const STATE: &str = "~upstream-state";

/// Sends a request whose upstream may ask questions before it answers.
pub(crate) async fn call_upstream(
    upstream: &Arc<Upstream>,
    method: &'static str,
    params: &mut RequestParams,
    cx: &Context,
    pending_calls: &Arc<PendingCalls>,
) -> Result<ParsedResult, RequestError> {
    // A caller that gives up before the request left changed nothing, and its fault says so.
    let pooled = tokio::select! {
        biased;
        pooled = upstream.acquire(cx) => pooled?,
        () = cx.cancelled() => return Err(Fault::new(&reason::SERVER_CANCELLED).into()),
    };
    let result = match pooled.connection.era() {
        Era::Modern => call_with_rounds(upstream, &pooled, method, params, cx).await,
        // Boxed: the future of a call between a modern client and a modern upstream stays small.
        Era::Session => {
            Box::pin(call_session_upstream(upstream, pooled, method, params, cx, pending_calls)).await
        }
    };
    Ok(check_shape(method, result?)?)
}

async fn call_session_upstream(
    upstream: &Arc<Upstream>,
    pooled: PooledConnection,
    method: &'static str,
    params: &RequestParams,
    cx: &Context,
    pending_calls: &Arc<PendingCalls>,
) -> Result<ParsedResult, RequestError> {
    let send = |relay| send_in_session(upstream.clone(), pooled, method, params.clone(), relay);
    let is_session = cx.client().revision.era() == Era::Session;
    // A client that supports tasks gets questions through the task.
    let is_followed = params.is_task() && cx.client().can(Capability::Tasks);
    match is_session || is_followed {
        true => send(ClientRelay::direct(cx)).await,
        false => pending_calls.call(cx, send).await,
    }
}

/// Sends a request to a session-era upstream, which asks its questions while the request is open.
async fn send_in_session(
    upstream: Arc<Upstream>,
    pooled: PooledConnection,
    method: &'static str,
    params: RequestParams,
    relay: ClientRelay,
) -> Result<ParsedResult, RequestError> {
    let request = UpstreamRequest::new(method, &params).on(&pooled).relayed(&relay);
    let result = upstream.request(&relay.cx, &request).await?;
    if params.is_task() { follow_session_task(&upstream, result, &relay).await } else { Ok(result) }
}

/// Calls a modern upstream. If it answers `input_required`, the client is asked and the request repeated with its
/// answers.
async fn call_with_rounds(
    upstream: &Arc<Upstream>,
    on: &PooledConnection,
    method: &'static str,
    params: &mut RequestParams,
    cx: &Context,
) -> Result<ParsedResult, RequestError> {
    resume(params, cx);
    let relay = ClientRelay::direct(cx);
    let asked = upstream.request(cx, &UpstreamRequest::new(method, params).on(on).relayed(&relay)).await;
    match asked {
        Ok(found) if found.is_complete() => Ok(found),
        // Boxed, because it is rare: the future of every call stays small.
        other => Box::pin(continue_rounds(upstream, other, method, params, &relay)).await,
    }
}

/// Asks the client and repeats the request with the answers.
async fn continue_rounds(
    upstream: &Arc<Upstream>,
    first: Result<ParsedResult, RequestError>,
    method: &'static str,
    params: &mut RequestParams,
    relay: &ClientRelay,
) -> Result<ParsedResult, RequestError> {
    let (mut found, cx) = (first, &relay.cx);
    let mut more = 1..MOST_ROUNDS;
    loop {
        match found {
            Ok(found) if found.is_complete() => return Ok(found),
            Ok(ParsedResult { kind, members, .. }) => {
                let nonsense = || invalid_response(members.members.text().as_bytes());
                let object = members.members.object();
                match kind.as_ref().and_then(|kind| kind.raw().as_str()).as_deref() {
                    Some("input_required") => ask(params, object, cx).await?,
                    Some("task") if method == "tools/call" => {
                        return follow_task(upstream, object, cx).await;
                    }
                    _ => return Err(nonsense().into()),
                }
            }
            // The session era has no such tasks, so the gateway follows the task. The rejected request had no effect.
            Err(RequestError::NeedsTasks(_)) if cx.client().revision.era() == Era::Session => {
                params.follow_tasks();
            }
            Err(error) => return Err(error),
        }
        if more.next().is_none() {
            let garbled = Fault::new(&reason::GATEWAY_UPSTREAM_GARBLED);
            return Err(garbled.note("rounds", "it never stops asking").into());
        }
        found = upstream.request(cx, &UpstreamRequest::new(method, params).relayed(relay)).await;
    }
}

/// Restores the answers and the state of an earlier round.
fn resume(params: &mut RequestParams, cx: &Context) {
    let Some((_, state)) = cx.round_state(STATE).into_iter().next() else { return };
    let brought = cx.round_state("");
    let answers = brought.iter().filter(|(key, _)| !key.starts_with('~'));
    fill(params, Json::object(answers.map(|(key, answer)| (key.as_str(), answer.raw()))), Some(state));
}

async fn ask(params: &mut RequestParams, wanted: Object<'_>, cx: &Context) -> Result<(), Fault> {
    let state = wanted.get("requestState").map(Raw::to_json);
    cx.remember(STATE, state.clone().unwrap_or_else(|| Json::from(&serde_json::Value::Null)));
    let questions = wanted.get("inputRequests").and_then(Raw::as_object);
    let questions = questions.map(read_questions).unwrap_or_default();
    let named: Vec<(&str, Question)> = questions.iter().map(|(key, q)| (key.as_str(), q.clone())).collect();
    let answers = cx.ask(&named).await?;
    let given = questions.iter().filter_map(|(key, _)| Some((key.as_str(), answers.raw(key)?.raw())));
    fill(params, Json::object(given), state);
    Ok(())
}

fn fill(params: &mut RequestParams, answers: Json, state: Option<Json>) {
    params.set("inputResponses", Some(answers));
    params.set("requestState", state.filter(|state| !state.raw().is_null()));
}
