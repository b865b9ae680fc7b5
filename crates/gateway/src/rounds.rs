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

/// A request whose upstream may need answers first.
pub(crate) async fn answer_rounds(
    upstream: &Arc<Upstream>,
    on: &Seated,
    method: &'static str,
    params: &mut Params,
    cx: &Context,
) -> Result<Members, Fault> {
    resume(params, cx);
    let relay = Relay::direct(cx);
    let asked = upstream.request(cx, &Ask::of(method, params).on(Some(on)).relayed(&relay)).await;
    match asked.map(Found::of) {
        Ok(found) if found.is_complete() => Ok(found.members),
        // Rare and large, so kept apart: what every call is made of stays small.
        other => Box::pin(go_on(upstream, other, method, params, &relay)).await,
    }
}

/// Asks the client what the upstream asks, and repeats the request with the answers.
async fn go_on(
    upstream: &Arc<Upstream>,
    first: Result<Found, Fault>,
    method: &'static str,
    params: &mut Params,
    relay: &Relay,
) -> Result<Members, Fault> {
    let (mut found, cx) = (first, &relay.cx);
    let mut more = 1..MOST_ROUNDS;
    loop {
        match found {
            Ok(found) if found.is_complete() => return Ok(found.members),
            Ok(Found { kind, members }) => {
                let nonsense = || garbled(members.members.text().as_bytes());
                let object = members.members.object();
                match kind.as_ref().and_then(|kind| kind.raw().as_str()).as_deref() {
                    Some("input_required") => ask(params, object, cx).await?,
                    Some("task") if method == "tools/call" => {
                        return Ok(Found::of(see_through(upstream, object, cx).await?).members);
                    }
                    _ => return Err(nonsense()),
                }
            }
            // A session has no tasks as this upstream means them, so they are followed for it. Nothing was done yet.
            Err(fault) if wants_tasks(&fault) && cx.client().revision.era() == Era::Session => {
                params.follow_tasks();
            }
            Err(fault) => return Err(fault),
        }
        if more.next().is_none() {
            return Err(Fault::new(&reason::GATEWAY_UPSTREAM_GARBLED).note("rounds", "it never stops asking"));
        }
        found = upstream.request(cx, &Ask::of(method, params).relayed(relay)).await.map(Found::of);
    }
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
