//! An upstream of the modern era that needs answers first.

use std::sync::Arc;

use failwell_fault::{Fact, Fault, reason};
use failwell_rpc::{Era, Json, Object, Raw};
use failwell_server::{Context, Members, Question, TASKS_EXTENSION};

use crate::line::garbled;
use crate::params::Params;
use crate::relay::Relay;
use crate::said::Found;
use crate::tasks::{read_questions, see_through};
use crate::upstream::{Ask, Seated, Upstream};

/// The most times an upstream may ask before it answers.
const MOST_ROUNDS: usize = 8;
/// Under which its state is kept while a modern client answers.
const STATE: &str = "~upstream-state";

/// Asks the client what the upstream asks, and repeats the request with the answers.
pub(crate) async fn answer_rounds(
    upstream: &Arc<Upstream>,
    found: Seated,
    method: &'static str,
    params: Params,
    cx: &Context,
) -> Result<Members, Fault> {
    let mut params = params;
    resume(&mut params, cx);
    let mut found = Some(found);
    for _ in 0..MOST_ROUNDS {
        let (relay, on) = (Relay::direct(cx), found.take());
        let asking = Ask::of(method, &params).on(on.as_ref()).relayed(&relay);
        let result = match upstream.request(cx, asking).await {
            Ok(result) => result,
            // A session has no tasks as this upstream means them, so they are followed for it. Nothing was done yet.
            Err(fault) if wants_tasks(&fault) && cx.client().revision.era() == Era::Session => {
                params.follow_tasks();
                continue;
            }
            Err(fault) => return Err(fault),
        };
        let Found { kind, members } = Found::of(result);
        let kind = kind.as_ref().and_then(|kind| kind.raw().as_str());
        if matches!(kind.as_deref(), None | Some("complete")) {
            return Ok(members);
        }
        let nonsense = || garbled(members.members.text().as_bytes());
        let object = members.members.raw().as_object().ok_or_else(nonsense)?;
        // Rare and large, so kept apart: what every call is made of stays small.
        match kind.as_deref() {
            Some("input_required") => Box::pin(ask(&mut params, object, cx)).await?,
            Some("task") if method == "tools/call" => {
                return Ok(Found::of(Box::pin(see_through(upstream, object, cx)).await?).members);
            }
            _ => return Err(nonsense()),
        }
    }
    Err(Fault::new(&reason::GATEWAY_UPSTREAM_GARBLED).note("rounds", "it never stops asking"))
}

fn wants_tasks(fault: &Fault) -> bool {
    let required = fault.get("required");
    *fault.reason() == reason::MCP_CAPABILITY
        && matches!(required, Some(Fact::Words(words)) if words.contains(&TASKS_EXTENSION))
}

/// What a modern client brought for the upstream from an earlier round.
fn resume(params: &mut Params, cx: &Context) {
    let Some((_, state)) = cx.brought(STATE).into_iter().next() else { return };
    let brought = cx.brought("");
    let answers = brought.iter().filter(|(key, _)| !key.starts_with('~'));
    fill(params, Json::object(answers.map(|(key, answer)| (key.as_str(), answer.raw()))), Some(state));
}

async fn ask(params: &mut Params, wanted: Object<'_>, cx: &Context) -> Result<(), Fault> {
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

fn fill(params: &mut Params, answers: Json, state: Option<Json>) {
    params.set("inputResponses", Some(answers));
    params.set("requestState", state.filter(|state| !state.raw().is_null()));
}
