//! Steps around the stream itself: many at once, the same twice, and its end.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;

use super::ProcedureOutcome;
use crate::checks::verdict::Verdict;
use crate::connection::message::Message;
use crate::connection::wire::http::SendPace;
use crate::connection::{Connection, Patience, Transmission, fresh_id, request};
use crate::examine::test_bench::TestBench;
use crate::revision::Revision;

const MANY: usize = 50;
const AT_ONCE: usize = 10;

fn ping(lab: &TestBench, id: &str) -> String {
    let method = if lab.revision.is_modern() { "server/discover" } else { "ping" };
    request(id, method, json!({}), lab.revision)
}

/// Sends a batch in the one revision that has them.
pub(super) async fn old_batch(lab: &mut TestBench) -> Result<ProcedureOutcome, String> {
    if !lab.spoken.contains(&Revision::March2025) {
        return Ok(ProcedureOutcome::not_applicable("2025-03-26 is not spoken"));
    }
    let (mut link, _) = lab.open(Revision::March2025).await?;
    let ids = [fresh_id("batch"), fresh_id("batch")];
    let parts = ids.clone().map(|id| request(&id, "ping", json!({}), Revision::March2025));
    let mut shot = Transmission::raw(format!("[{}]", parts.join(",")).into_bytes(), Patience::Normal);
    shot.id = ids.last().cloned();
    let mut exchange = link.exchange(&shot).await;
    exchange.add_late(link.pulse(Duration::from_millis(200)).await.late);
    let answered =
        |id: &&String| exchange.messages.iter().any(|message| message.has_id(id) && message.is_answer());
    let verdict = match ids.iter().filter(answered).count() {
        2 => Verdict::HELD,
        count => Verdict::broken(format!("{count} of 2 requests in a batch answered")),
    };
    Ok(ProcedureOutcome::of(verdict, &exchange))
}

/// Sends two requests with the same id in one write.
pub(super) async fn duplicate_in_flight(lab: &mut TestBench) -> Result<ProcedureOutcome, String> {
    let id = fresh_id("twin");
    let two = [ping(lab, &id), ping(lab, &id)].join("\n");
    let mut shot = Transmission::request(two, &id);
    shot.patience = Patience::Normal;
    let link = lab.ready().await?;
    let mut exchange = link.exchange(&shot).await;
    exchange.add_late(link.pulse(Duration::from_millis(200)).await.late);
    let verdict = match exchange.answers().len() {
        0 => Verdict::broken("no answer to either"),
        1 | 2 => Verdict::HELD,
        more => Verdict::broken(format!("{more} answers to two requests")),
    };
    Ok(ProcedureOutcome::of(verdict, &exchange))
}

/// Sends fifty requests without waiting and counts the answers.
pub(super) async fn pipelined(lab: &mut TestBench) -> Result<ProcedureOutcome, String> {
    let ids: Vec<String> = (0..MANY).map(|_| fresh_id("many")).collect();
    let bodies: Vec<String> = ids.iter().map(|id| ping(lab, id)).collect();
    let messages = match lab.ready().await? {
        Connection::Stdio(_) => over_pipe(lab, &bodies).await?,
        Connection::Http(_) => over_sockets(lab, &ids, &bodies).await?,
    };
    let mut counts: BTreeMap<&str, usize> = ids.iter().map(|id| (id.as_str(), 0)).collect();
    for message in messages.iter().filter(|message| message.is_answer()) {
        if let Some(count) = message.id_text().and_then(|id| counts.get_mut(id)) {
            *count += 1;
        }
    }
    let missing = counts.values().filter(|count| **count == 0).count();
    let doubled = counts.values().filter(|count| **count > 1).count();
    let verdict = if missing + doubled == 0 {
        Verdict::HELD
    } else {
        Verdict::broken(format!("{missing} of {MANY} not answered, {doubled} answered more than once"))
    };
    let got: Vec<String> = messages.iter().take(4).map(|message| message.value.to_string()).collect();
    Ok(ProcedureOutcome::new(verdict, bodies.join("\n").as_bytes(), got.join("\n").as_bytes()))
}

async fn over_pipe(lab: &mut TestBench, bodies: &[String]) -> Result<Vec<Message>, String> {
    let link = lab.ready().await?;
    let mut shot = Transmission::raw(bodies.join("\n").into_bytes(), Patience::Settle);
    shot.pace = SendPace::Whole;
    let mut messages = link.exchange(&shot).await.messages;
    let late = link.pulse(Duration::from_millis(400)).await.late;
    messages.extend(late.into_iter().map(|(_, message)| message));
    Ok(messages)
}

async fn over_sockets(
    lab: &mut TestBench,
    ids: &[String],
    bodies: &[String],
) -> Result<Vec<Message>, String> {
    let Connection::Http(link) = lab.ready().await? else { return Ok(Vec::new()) };
    let pairs: Vec<(String, String)> = ids.iter().cloned().zip(bodies.iter().cloned()).collect();
    let mut messages = Vec::new();
    for group in pairs.chunks(AT_ONCE) {
        let mut tasks = JoinSet::new();
        for (id, body) in group.iter().cloned() {
            let mut link = link.clone();
            tasks.spawn(async move { link.exchange(&Transmission::request(body, &id)).await.messages });
        }
        while let Some(done) = tasks.join_next().await {
            messages.extend(done.unwrap_or_default());
        }
    }
    Ok(messages)
}

/// Closes stdin of an idle server and waits for it to end.
pub(super) async fn exit_on_eof(lab: &mut TestBench) -> Result<ProcedureOutcome, String> {
    let (link, _) = lab.open(lab.revision).await?;
    let Connection::Stdio(mut link) = link else {
        return Ok(ProcedureOutcome::not_applicable("there is no pipe to close"));
    };
    link.child.close_stdin();
    let verdict = match link.child.exit(Duration::from_secs(3)).await {
        Some(status) if status.success() => Verdict::HELD,
        Some(status) => Verdict::noted(format!("it ended with {status}")),
        None => Verdict::broken("still running three seconds later"),
    };
    Ok(ProcedureOutcome::new(verdict, b"(end of input)", b""))
}

/// Leaves while a call is running.
pub(super) async fn disconnect(lab: &mut TestBench) -> Result<ProcedureOutcome, String> {
    let Some(tool) = lab.survey.slow.clone().or_else(|| lab.survey.harmless.clone()) else {
        return Ok(ProcedureOutcome::not_applicable("no tool looks harmless; name one to call"));
    };
    let id = fresh_id("leave");
    let params = json!({"name": tool.name, "arguments": tool.arguments});
    let body = request(&id, "tools/call", params, lab.revision);
    if let Connection::Http(_) = lab.ready().await? {
        let mut shot = Transmission::request(body, &id);
        shot.pace = SendPace::HangUp;
        let exchange = lab.ready().await?.exchange(&shot).await;
        return Ok(ProcedureOutcome::of(Verdict::HELD, &exchange));
    }
    let (link, _) = lab.open(lab.revision).await?;
    let Connection::Stdio(mut link) = link else {
        return Ok(ProcedureOutcome::not_applicable("there is no pipe to close"));
    };
    link.write_line(body.as_bytes()).await;
    link.child.close_stdin();
    let verdict = match link.child.exit(Duration::from_secs(8)).await {
        Some(_) => Verdict::HELD,
        None => Verdict::short("still running eight seconds after its caller left"),
    };
    Ok(ProcedureOutcome::new(verdict, body.as_bytes(), b""))
}

/// Looks back at every line of stdout so far.
pub(super) fn purity(lab: &TestBench) -> ProcedureOutcome {
    let impure = lab.impure.lock();
    match impure.first() {
        None => ProcedureOutcome::new(Verdict::HELD, b"", b""),
        Some(_) => {
            let why = format!("{} lines are no JSON-RPC message", impure.len());
            ProcedureOutcome::new(Verdict::broken(why), b"(everything so far)", &impure.join(&b'\n'))
        }
    }
}
