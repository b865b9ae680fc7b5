//! Steps around sessions and headers of HTTP.

use serde_json::json;

use super::ProcedureOutcome;
use crate::checks::check::Expectation;
use crate::checks::judge::judge;
use crate::checks::verdict::Verdict;
use crate::connection::exchange::Exchange;
use crate::connection::wire::http::SendPace;
use crate::connection::{Connection, HeaderEdit, Patience, Transmission, fresh_id, request};
use crate::examine::test_bench::TestBench;
use crate::revision::Revision;

fn ping(lab: &TestBench) -> Transmission {
    let id = fresh_id("http");
    let method = if lab.revision.is_modern() { "server/discover" } else { "ping" };
    Transmission::request(request(&id, method, json!({}), lab.revision), &id)
}

async fn with_edit(lab: &mut TestBench, edit: HeaderEdit) -> Result<Exchange, String> {
    let mut shot = ping(lab);
    shot.edits.push(edit);
    Ok(lab.ready().await?.exchange(&shot).await)
}

async fn has_session(lab: &mut TestBench) -> Result<bool, String> {
    Ok(matches!(lab.ready().await?, Connection::Http(link) if link.session.is_some()))
}

fn by_status(held: &'static [u16], short: &'static [u16], exchange: &Exchange) -> ProcedureOutcome {
    ProcedureOutcome::of(judge(&Expectation::Status { held, short }, exchange), exchange)
}

/// Announces a body and sends half of it.
pub(super) async fn short_body(lab: &mut TestBench) -> Result<ProcedureOutcome, String> {
    let mut shot = ping(lab);
    shot.pace = SendPace::CutShort;
    let exchange = lab.ready().await?.exchange(&shot).await;
    Ok(ProcedureOutcome::of(Verdict::HELD, &exchange))
}

/// Speaks to a local server by a name an attacker's page would resolve to it.
pub(super) async fn foreign_host(lab: &mut TestBench) -> Result<ProcedureOutcome, String> {
    if !lab.is_loopback() {
        return Ok(ProcedureOutcome::not_applicable("only a server on this machine can know all its names"));
    }
    let exchange = with_edit(lab, HeaderEdit::Set("Host", "evil.example")).await?;
    Ok(by_status(&[403, 421], &[400, 404], &exchange))
}

/// Uses a session id that the server never issued.
pub(super) async fn unknown_session(lab: &mut TestBench) -> Result<ProcedureOutcome, String> {
    if !has_session(lab).await? {
        return Ok(ProcedureOutcome::not_applicable("the server gives no session ids"));
    }
    let exchange = with_edit(lab, HeaderEdit::Set("Mcp-Session-Id", "failwell-made-up")).await?;
    Ok(by_status(&[404], &[400, 401, 403], &exchange))
}

/// Leaves the session id out.
pub(super) async fn missing_session(lab: &mut TestBench) -> Result<ProcedureOutcome, String> {
    if !has_session(lab).await? {
        return Ok(ProcedureOutcome::not_applicable("the server gives no session ids"));
    }
    let exchange = with_edit(lab, HeaderEdit::Drop("Mcp-Session-Id")).await?;
    Ok(by_status(&[400], &[], &exchange))
}

/// Ends a session of its own and goes on as if it had not.
pub(super) async fn deleted_session(lab: &mut TestBench) -> Result<ProcedureOutcome, String> {
    if !has_session(lab).await? {
        return Ok(ProcedureOutcome::not_applicable("the server gives no session ids"));
    }
    let (mut link, _) = lab.open(lab.revision).await?;
    let mut delete = Transmission::raw(Vec::new(), Patience::Settle);
    delete.verb = "DELETE";
    let ended = link.exchange(&delete).await;
    match ended.status() {
        Some(405) => {
            return Ok(ProcedureOutcome::not_applicable("the server does not let clients end sessions"));
        }
        Some(200..=299) => {}
        _ => {
            return Ok(ProcedureOutcome::of(
                Verdict::broken("DELETE was neither done nor refused with 405"),
                &ended,
            ));
        }
    }
    let exchange = link.exchange(&ping(lab)).await;
    Ok(by_status(&[404], &[400, 401, 403], &exchange))
}

/// Names a version from 1999 in the header.
pub(super) async fn version_header(lab: &mut TestBench) -> Result<ProcedureOutcome, String> {
    if lab.revision < Revision::June2025 {
        return Ok(ProcedureOutcome::not_applicable("the header began with 2025-06-18"));
    }
    let exchange = with_edit(lab, HeaderEdit::Set("MCP-Protocol-Version", "1999-01-01")).await?;
    Ok(by_status(&[400], &[], &exchange))
}

/// Uses a verb that the stateless protocol has no use for.
pub(super) async fn gone_verb(lab: &mut TestBench, verb: &'static str) -> Result<ProcedureOutcome, String> {
    let mut shot = Transmission::raw(Vec::new(), Patience::Settle);
    shot.verb = verb;
    let dual = lab.is_dual();
    let exchange = lab.ready().await?.exchange(&shot).await;
    let verdict = match exchange.status() {
        Some(405) => Verdict::HELD,
        Some(status) if dual && status < 500 => {
            Verdict::noted("taken as the session era's, which is spoken too")
        }
        _ => judge(&Expectation::Status { held: &[405], short: &[] }, &exchange),
    };
    Ok(ProcedureOutcome::of(verdict, &exchange))
}
