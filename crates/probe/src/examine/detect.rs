//! Which revisions a server speaks, found by asking in each.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::PROOF_CAP;
use super::test_bench::TestBench;
use crate::checks::verdict::{Level, Verdict};
use crate::connection::exchange::{Exchange, ServerAnswer};
use crate::connection::wire::child::ProcessEnd;
use crate::connection::{Connection, Transmission, fresh_id, initialize_params, request};
use crate::failure::ProbeError;
use crate::report::{CheckReport, printable};
use crate::revision::Revision;

/// Letters of a line of stderr that are shown.
const STDERR_LINE: usize = 300;

/// The protocol revisions that the server supports.
pub(crate) struct RevisionSupport {
    /// Oldest first.
    pub(crate) revisions: Vec<Revision>,
    pub(crate) checks: Vec<CheckReport>,
}

/// Asks in every revision. Only a server that answers none of them is an error.
pub(crate) async fn detect(lab: &mut TestBench) -> Result<RevisionSupport, ProbeError> {
    let mut spoken = Vec::new();
    let mut asked = Vec::new();
    let mut silent = None;
    for revision in Revision::SESSION {
        let began = Instant::now();
        let id = fresh_id("hello");
        let body = request(&id, "initialize", initialize_params(revision.date()), revision);
        let mut link = lab.start(revision)?;
        let exchange = link.exchange(&Transmission::request(body, &id)).await;
        if asked.is_empty() {
            first_contact(lab, &exchange, began.elapsed());
            if let Some(error) = has_ended(&mut link, &exchange).await {
                return Err(error);
            }
        }
        spoken.extend(offered(&exchange));
        // A server that is silent to one revision would be waited for as long in each of the others.
        let is_silent = exchange.got.is_empty() && exchange.trouble.is_none();
        asked.push((revision, exchange, began.elapsed()));
        if is_silent && spoken.is_empty() {
            silent = Some((link, began.elapsed()));
            break;
        }
    }
    let waited = silent.as_ref().map(|(_, waited)| *waited);
    let modern = discover(lab, silent.map(|(link, _)| link)).await?;
    if spoken.is_empty() && !modern {
        return Err(no_server(lab, waited, asked.first().map(|(_, exchange, _)| exchange)));
    }
    let sessions = !spoken.is_empty();
    spoken.extend(modern.then_some(Revision::July2026));
    spoken.sort();
    spoken.dedup();
    let checks =
        asked.iter().map(|(revision, exchange, took)| check(*revision, exchange, *took, sessions)).collect();
    Ok(RevisionSupport { revisions: spoken, checks })
}

/// The error for a process that ended without an answer to the first request.
async fn has_ended(link: &mut Connection, exchange: &Exchange) -> Option<ProbeError> {
    let Connection::Stdio(stdio) = link else { return None };
    if !exchange.messages.is_empty() || exchange.trouble.is_none() {
        return None;
    }
    let ProcessEnd { status, stderr } = stdio.child.end().await?;
    let stderr = stderr.iter().map(|line| printable(line.as_bytes(), STDERR_LINE)).collect();
    Some(ProbeError::Ended { status, stderr })
}

/// The first answer shows how long the server takes to start; later ones need not wait longer than twice that.
fn first_contact(lab: &mut TestBench, exchange: &Exchange, took: Duration) {
    if !exchange.messages.is_empty() {
        lab.startup = (took * 2 + Duration::from_secs(1)).min(lab.options.startup_timeout);
    }
}

fn offered(exchange: &Exchange) -> Option<Revision> {
    let ServerAnswer::Result(message) = exchange.answer() else { return None };
    let date = message.result()?.get("protocolVersion")?.as_str()?;
    Revision::from_date(date).filter(|revision| !revision.is_modern())
}

/// Asks in the modern era: the process that was silent so far, if there is one, otherwise over a new connection.
async fn discover(lab: &TestBench, silent: Option<Connection>) -> Result<bool, ProbeError> {
    let mut link = match silent {
        Some(mut link) => {
            link.set_revision(Revision::July2026);
            if let Connection::Stdio(stdio) = &mut link {
                stdio.wait = lab.options.timeout_per_check;
            }
            link
        }
        None => lab.start(Revision::July2026)?,
    };
    let result = link.call("server/discover", Value::Object(serde_json::Map::new())).await;
    let versions = result.ok().and_then(|result| result.get("supportedVersions").cloned());
    let dates = versions.as_ref().and_then(Value::as_array);
    Ok(dates.is_some_and(|dates| dates.iter().any(|date| date == Revision::July2026.date())))
}

fn no_server(lab: &TestBench, silent: Option<Duration>, exchange: Option<&Exchange>) -> ProbeError {
    let not_mcp = |why: String| ProbeError::NotMcp { why, help: lab.help_for_no_server() };
    let Some(exchange) = exchange else { return not_mcp("nothing was asked".to_owned()) };
    match (exchange.status(), &exchange.trouble) {
        (Some(status @ (401 | 403)), _) => ProbeError::Unauthorized { status },
        (Some(status), _) => not_mcp(format!("HTTP {status} to initialize")),
        (None, Some(why)) => not_mcp(why.clone()),
        (None, None) => match silent {
            Some(waited) => ProbeError::Silent { waited },
            None => not_mcp("nothing that is JSON-RPC came back".to_owned()),
        },
    }
}

fn check(revision: Revision, exchange: &Exchange, duration: Duration, sessions: bool) -> CheckReport {
    let date = match exchange.answer() {
        ServerAnswer::Result(message) => {
            message.result().and_then(|it| it.get("protocolVersion")).and_then(Value::as_str)
        }
        _ => None,
    };
    let verdict = match (date, exchange.answer()) {
        _ if !sessions => Verdict::not_applicable("the server speaks only the modern era"),
        (Some(date), _) if date == revision.date() => Verdict::HELD,
        (Some(date), _) if Revision::from_date(date).is_some() => Verdict::noted(format!("it offers {date}")),
        (Some(_), _) => Verdict::broken("the version offered was never published"),
        (None, ServerAnswer::Error { code, .. }) => {
            Verdict::broken(format!("refused with {code} instead of offering a version"))
        }
        (None, _) => Verdict::broken("no version was offered"),
    };
    CheckReport {
        id: format!("version.{}", revision.date()),
        group: "version".to_owned(),
        title: format!("initialize in {}", revision.date()),
        level: Level::Must,
        revision,
        survived: true,
        verdict,
        expected: "the same version, or another the server supports".to_owned(),
        rule: "MCP lifecycle, version negotiation".to_owned(),
        sent: printable(&exchange.sent, PROOF_CAP),
        got: printable(&exchange.got, PROOF_CAP),
        duration,
    }
}
