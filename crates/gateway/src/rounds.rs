//! An upstream of the modern era that needs answers first.

use std::sync::Arc;

use failwell_fault::{Fault, OrFault, reason};
use failwell_rpc::{Json, Object, Raw};
use failwell_server::{Context, Question};
use serde_json::{Map, Value, json};

use crate::line::garbled;
use crate::member::with_meta;
use crate::relay::Relay;
use crate::upstream::{Connection, Upstream};

/// The most times an upstream may ask before it answers.
const MOST_ROUNDS: usize = 8;
/// Under which its state is kept while a modern client answers.
const STATE: &str = "~upstream-state";

/// Asks the client what the upstream asks, and repeats the request with the answers.
pub(crate) async fn answer_rounds(
    upstream: &Arc<Upstream>,
    method: &'static str,
    base: Value,
    cx: &Context,
) -> Result<Json, Fault> {
    let mut base = base;
    resume(&mut base, cx);
    for _ in 0..MOST_ROUNDS {
        let params = |connection: &Connection, number| with_meta(&base, connection, Some(number), cx);
        let (result, _) = upstream.request(cx, method, params, Some(&Relay::direct(cx))).await?;
        let object = result.raw().as_object().ok_or_else(|| garbled(result.text().as_bytes()))?;
        let kind = object.get("resultType").and_then(Raw::as_str);
        match kind.as_deref() {
            None | Some("complete") => return Ok(result),
            Some("input_required") => ask(&mut base, object, cx).await?,
            // Tasks are never asked for, so nothing else can be meant.
            Some(_) => return Err(garbled(result.text().as_bytes())),
        }
    }
    Err(Fault::new(&reason::GATEWAY_UPSTREAM_GARBLED).note("rounds", "it never stops asking"))
}

/// What a modern client brought for the upstream from an earlier round.
fn resume(base: &mut Value, cx: &Context) {
    let state = cx.brought(STATE).into_iter().next();
    let Some((_, state)) = state else { return };
    let answers: Map<String, Value> = cx
        .brought("")
        .into_iter()
        .filter(|(key, _)| !key.starts_with('~'))
        .filter_map(|(key, answer)| Some((key, answer.raw().parse().ok()?)))
        .collect();
    fill(base, answers, state.raw().parse().ok());
}

async fn ask(base: &mut Value, wanted: Object<'_>, cx: &Context) -> Result<(), Fault> {
    let state = wanted.get("requestState").map(Raw::to_json);
    cx.remember(STATE, state.clone().unwrap_or(Json::of(&Value::Null).or_fault(&reason::SERVER_BUG)?));
    let questions = wanted.get("inputRequests").and_then(Raw::as_object);
    let questions: Vec<(String, Question)> = questions
        .into_iter()
        .flat_map(|object| object.iter())
        .filter_map(|(key, raw)| {
            let object = raw.as_object()?;
            let method = object.get("method")?.as_str()?;
            let params = object.get("params").map_or(Ok(json!({})), Raw::parse).ok()?;
            Some((key.into_owned(), Question::relayed(&method, params)?))
        })
        .collect();
    let named: Vec<(&str, Question)> = questions.iter().map(|(key, q)| (key.as_str(), q.clone())).collect();
    let answers = cx.ask(&named).await?;
    let answers = questions.iter().map(|(key, _)| (key.clone(), answers.get(key))).collect();
    fill(base, answers, state.and_then(|state| state.raw().parse().ok()));
    Ok(())
}

fn fill(base: &mut Value, answers: Map<String, Value>, state: Option<Value>) {
    if let Some(members) = base.as_object_mut() {
        members.insert("inputResponses".to_owned(), Value::Object(answers));
        match state.filter(|state| !state.is_null()) {
            Some(state) => members.insert("requestState".to_owned(), state),
            None => members.remove("requestState"),
        };
    }
}
