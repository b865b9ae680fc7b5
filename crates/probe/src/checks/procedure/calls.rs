//! Steps around tool calls, cancellation and a second `initialize`.

use std::time::Duration;

use serde_json::{Value, json};

use super::ProcedureOutcome;
use crate::checks::check::{Expectation, Severity};
use crate::checks::judge::judge;
use crate::checks::verdict::Verdict;
use crate::connection::exchange::{Exchange, ServerAnswer};
use crate::connection::{Patience, Transmission, fresh_id, initialize_params, meta, request};
use crate::examine::test_bench::TestBench;

fn tool_call(lab: &TestBench, id: &str, name: &str, arguments: &Value) -> String {
    request(id, "tools/call", json!({"name": name, "arguments": arguments}), lab.revision)
}

fn cancelled(id: &str, lab: &TestBench) -> Transmission {
    let body = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"probe","_meta":{}}}}}"#,
        meta(lab.revision)
    );
    Transmission::raw(body.into_bytes(), Patience::Settle)
}

/// Calls a tool by a name one letter off and looks for the right one in the answer.
pub(super) async fn near_miss(lab: &mut TestBench) -> Result<ProcedureOutcome, String> {
    let tool = lab.survey.strict.as_ref().or(lab.survey.harmless.as_ref());
    let Some(right) = tool.map(|tool| tool.name.clone()).filter(|name| name.chars().count() > 2) else {
        return Ok(ProcedureOutcome::not_applicable("no tool has a name long enough to mistype"));
    };
    let mut wrong = right.clone();
    wrong.pop();
    if lab.survey.names.contains(&wrong) {
        return Ok(ProcedureOutcome::not_applicable("the mistyped name is a tool as well"));
    }
    let id = fresh_id("near");
    let shot = Transmission::request(tool_call(lab, &id, &wrong, &json!({})), &id);
    let exchange = lab.ready().await?.exchange(&shot).await;
    let verdict = match exchange.answer() {
        ServerAnswer::Error { message, .. } | ServerAnswer::Failed(message) => {
            if message.value.to_string().contains(&right) {
                Verdict::HELD
            } else {
                Verdict::broken(format!("{wrong:?} was refused without a word of {right:?}"))
            }
        }
        ServerAnswer::Result(_) => Verdict::broken("a tool that does not exist gave a result"),
        ServerAnswer::Nothing => Verdict::broken("no answer"),
    };
    Ok(ProcedureOutcome::of(verdict, &exchange))
}

/// Sends a password among wrong arguments with logging turned up, and reads the log messages that follow.
pub(super) async fn plant_secret(lab: &mut TestBench) -> Result<ProcedureOutcome, String> {
    let Some(tool) = lab.survey.strict.clone() else {
        return Ok(ProcedureOutcome::not_applicable("no tool has a schema that excludes anything"));
    };
    let mut arguments = tool.wrong_type.unwrap_or_else(|| json!({}));
    if let Some(map) = arguments.as_object_mut() {
        map.insert("password".to_owned(), Value::from(lab.marker.as_str()));
    }
    let id = fresh_id("secret");
    let body = tool_call(lab, &id, &tool.name, &arguments);
    let body = body.replace(
        r#""io.modelcontextprotocol/protocolVersion""#,
        r#""io.modelcontextprotocol/logLevel":"debug","io.modelcontextprotocol/protocolVersion""#,
    );
    let (logs, marker) = (lab.survey.can("logging") && !lab.revision.is_modern(), lab.marker.clone());
    let link = lab.ready().await?;
    if logs {
        // A refusal here is another check's business.
        let _ = link.call("logging/setLevel", json!({"level": "debug"})).await;
    }
    let mut exchange = link.exchange(&Transmission::request(body, &id)).await;
    exchange.add_late(link.pulse(Duration::from_millis(200)).await.late);
    Ok(ProcedureOutcome::of(secret_verdict(&exchange, &marker), &exchange))
}

fn secret_verdict(exchange: &Exchange, marker: &str) -> Verdict {
    let holds = |message: &&crate::connection::message::Message| message.value.to_string().contains(marker);
    let mut logs =
        exchange.messages.iter().filter(|message| message.method() == Some("notifications/message"));
    if logs.any(|message| holds(&message)) {
        return Verdict::broken("the password is in a log message");
    }
    match exchange.answers().into_iter().find(holds) {
        Some(_) => Verdict::noted("the password came back to the caller in the answer"),
        None => Verdict::HELD,
    }
}

/// Cancels an id, then uses it.
pub(super) async fn cancel_before(lab: &mut TestBench) -> Result<ProcedureOutcome, String> {
    let id = fresh_id("early");
    let early = cancelled(&id, lab);
    let method = if lab.revision.is_modern() { "server/discover" } else { "ping" };
    let later = Transmission::request(request(&id, method, json!({}), lab.revision), &id);
    let link = lab.ready().await?;
    link.exchange(&early).await;
    let mut exchange = link.exchange(&later).await;
    exchange.sent = [early.body.as_slice(), b"\n", &later.body].concat();
    Ok(ProcedureOutcome::of(judge(&Expectation::Result, &exchange), &exchange))
}

/// Cancels what was already answered.
pub(super) async fn cancel_after(lab: &mut TestBench) -> Result<ProcedureOutcome, String> {
    let id = fresh_id("done");
    let method = if lab.revision.is_modern() { "server/discover" } else { "ping" };
    let first = Transmission::request(request(&id, method, json!({}), lab.revision), &id);
    let late = cancelled(&id, lab);
    let link = lab.ready().await?;
    link.exchange(&first).await;
    let mut exchange = link.exchange(&late).await;
    exchange.add_late(link.pulse(Duration::from_millis(100)).await.late);
    let verdict = match exchange.messages.iter().any(|message| message.has_id(&id)) {
        true => Verdict::broken("the finished request was answered again"),
        false => judge(&Expectation::Silence, &exchange),
    };
    Ok(ProcedureOutcome::of(verdict, &exchange))
}

/// Cancels a call while it runs; a slow tool shows whether the work stops, a quick one only that nothing breaks.
pub(super) async fn cancel_during(lab: &mut TestBench) -> Result<ProcedureOutcome, String> {
    let slow = lab.survey.slow.clone();
    let Some(tool) = slow.clone().or_else(|| lab.survey.harmless.clone()) else {
        return Ok(ProcedureOutcome::not_applicable("no tool looks harmless; name one to call"));
    };
    let id = fresh_id("cancel");
    let mut call =
        Transmission::raw(tool_call(lab, &id, &tool.name, &tool.arguments).into_bytes(), Patience::Settle);
    call.id = Some(id.clone());
    let stop = cancelled(&id, lab);
    let link = lab.ready().await?;
    let mut exchange = link.exchange(&call).await;
    let finished_early = !exchange.answers().is_empty();
    let mut after = stop.clone();
    after.id = Some(id);
    after.patience = if slow.is_some() { Patience::Full } else { Patience::Settle };
    let later = link.exchange(&after).await;
    exchange.sent = [call.body.as_slice(), b"\n", &stop.body].concat();
    exchange.got.extend_from_slice(&later.got);
    exchange.messages.extend(later.messages);
    let verdict = match (exchange.answers().len(), exchange.answer()) {
        (0, _) => Verdict::HELD,
        (1, _) if finished_early => Verdict::not_applicable("the tool is too quick to be cancelled"),
        (1, ServerAnswer::Error { .. }) => Verdict::noted("answered with an error after it was cancelled"),
        (1, _) if slow.is_none() => Verdict::noted("the tool finished first"),
        (1, _) => Verdict::broken("the work went on and its result came after it was called off"),
        (more, _) => Verdict::broken(format!("answered {more} times")),
    };
    Ok(ProcedureOutcome::of(verdict, &exchange))
}

/// Initializes a second time on the same connection.
pub(super) async fn initialize_twice(lab: &mut TestBench) -> Result<ProcedureOutcome, String> {
    let id = fresh_id("again");
    let body = request(&id, "initialize", initialize_params(lab.revision.date()), lab.revision);
    let exchange = lab.ready().await?.exchange(&Transmission::request(body, &id)).await;
    let expect = Expectation::OneAnswer { silence: Severity::Broken };
    Ok(ProcedureOutcome::of(judge(&expect, &exchange), &exchange))
}
