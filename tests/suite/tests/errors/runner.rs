//! Runs a table: every case, in every revision and over every transport it applies to.

use std::sync::Arc;

use failwell_rpc::Revision;
use serde_json::Value;
use tokio::task::JoinSet;

use crate::case::{Case, Kind, Transport};
use crate::client::http::{Http, Server, settings};
use crate::client::stdio::Stdio;
use crate::judge::{self, ensure};
use crate::received_message::ReceivedMessage;
use crate::schemas;
use crate::world::World;

/// The number of concurrent cases.
const AT_ONCE: usize = 8;

/// Runs all cases, and reports all failures together.
pub(crate) async fn run(table: Vec<Case>) {
    let mut runs = Vec::new();
    for case in table.into_iter().map(Arc::new) {
        let revisions = Revision::ALL.into_iter().filter(|revision| (case.revisions)(*revision));
        let before = runs.len();
        runs.extend(revisions.flat_map(|revision| {
            case.transports.iter().map({
                let case = case.clone();
                move |transport| (case.clone(), revision, *transport)
            })
        }));
        assert!(runs.len() > before, "{} applies nowhere", case.name);
    }
    let mut complaints = String::new();
    let mut running = JoinSet::new();
    let mut waiting = runs.into_iter();
    loop {
        while running.len() < AT_ONCE
            && let Some((case, revision, transport)) = waiting.next()
        {
            running.spawn(one(case, revision, transport));
        }
        match running.join_next().await {
            None => break,
            Some(outcome) => complaints.extend(outcome.expect("a case that panics has said why").err()),
        }
    }
    assert!(complaints.is_empty(), "{complaints}");
}

async fn one(case: Arc<Case>, revision: Revision, transport: Transport) -> Result<(), String> {
    let outcome = match transport {
        Transport::Stdio => over_stdio(&case, revision).await,
        Transport::Http => over_http(&case, revision).await,
    };
    outcome.map_err(|complaint| {
        let complaint: String = complaint.chars().take(1_500).collect();
        format!("\n{} ({}, {transport:?}): {complaint}\n", case.name, revision.as_str())
    })
}

async fn over_stdio(case: &Case, revision: Revision) -> Result<(), String> {
    let world = World::new();
    let mut client = Stdio::open(&world, revision).await;
    client.send(case.send.bytes(revision)).await;
    let mut answers = Vec::new();
    if case.expect.kind != Kind::Silence {
        answers.push(client.next().await);
    }
    answers.extend(client.still_works().await);
    // Over stdio, unreadable bytes are answered in the dialect of the newest session revision until the client states its own.
    let dialect = if revision == Revision::LATEST { Revision::LATEST_SESSION } else { revision };
    let spoken = if case.expect.id.is_some() { revision } else { dialect };
    settle(case, spoken, &world, answers)
}

async fn over_http(case: &Case, revision: Revision) -> Result<(), String> {
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = Http::open(&server, revision).await;
    let response = client.post("/mcp", case.send.bytes(revision)).await;
    client.still_works().await;
    let (_, status) = case.expect.numbers(revision);
    ensure!(
        response.status == status,
        "expected status {status}, found {}: {}",
        response.status,
        String::from_utf8_lossy(&response.body)
    );
    settle(case, revision, &world, response.messages()?)
}

/// Checks the response, or that there is none, and the journal.
fn settle(
    case: &Case,
    revision: Revision,
    world: &World,
    answers: Vec<ReceivedMessage>,
) -> Result<(), String> {
    let failures = world.journal();
    if case.expect.kind == Kind::Silence {
        ensure!(answers.is_empty(), "expected silence: {}", answers[0].text);
        return Ok(());
    }
    let [answer] = answers.as_slice() else { return Err(format!("{} answers", answers.len())) };
    judge::answer(answer, &case.expect, revision)?;
    schemas::check(&answer.value, method_of(case, revision).as_deref(), revision)?;
    let expected = usize::from(case.expect.kind != Kind::Result);
    ensure!(failures.len() == expected, "{} journal lines: {}", failures.len(), Value::Array(failures));
    if expected == 1 { judge::journal(world, answer) } else { Ok(()) }
}

fn method_of(case: &Case, revision: Revision) -> Option<String> {
    let message: Value = serde_json::from_slice(&case.send.bytes(revision)).ok()?;
    Some(message.get("method")?.as_str()?.to_owned())
}
