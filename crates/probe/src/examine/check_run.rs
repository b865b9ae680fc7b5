//! One check: what it sends, what comes back, and whether the server survived it.

use std::time::Duration;

use super::test_bench::TestBench;
use crate::checks::check::{Action, Check, ConnectionNeed, Payload};
use crate::checks::judge::judge;
use crate::checks::procedure::{ProcedureOutcome, perform};
use crate::checks::verdict::Verdict;
use crate::connection::exchange::Exchange;
use crate::connection::{Connection, Patience, Transmission, fresh_id};

/// One executed check.
pub(super) struct CheckRun {
    pub(super) outcome: ProcedureOutcome,
    /// Why the server is thought not to have survived.
    pub(super) death: Option<String>,
    /// Whether it could not be reached at all.
    pub(super) gone: bool,
}

impl CheckRun {
    pub(super) fn only(verdict: Verdict) -> Self {
        Self { outcome: ProcedureOutcome::new(verdict, b"", b""), death: None, gone: false }
    }

    fn unreachable(why: &str) -> Self {
        Self {
            gone: true,
            ..Self::only(Verdict::broken(format!("the server cannot be reached any more: {why}")))
        }
    }
}

/// Makes one check, then asks the server whether it still lives.
pub(super) async fn make(check: &Check, lab: &mut TestBench) -> CheckRun {
    if let Some(capability) = check.capability.filter(|capability| !lab.survey.can(capability)) {
        return CheckRun::only(Verdict::not_applicable(format!("the server does not offer {capability}")));
    }
    match check.act {
        Action::Send(body) => send(check, body, lab).await,
        Action::Special(special) => match perform(special, lab).await {
            Ok(outcome) => {
                let death = pulse(lab, None).await;
                CheckRun { outcome, death, gone: false }
            }
            Err(why) => CheckRun::unreachable(&why),
        },
    }
}

async fn send(check: &Check, body: Payload, lab: &mut TestBench) -> CheckRun {
    let id = check.id_text.map_or_else(|| fresh_id("p"), str::to_owned);
    let filled = match body {
        Payload::Around(before, bytes, after) => lab.fill(before, &id).and_then(|before| {
            let after = lab.fill(after, &id)?;
            Ok([before.as_bytes(), bytes, after.as_bytes()].concat())
        }),
        Payload::Text(text) => lab.fill(text, &id).map(String::into_bytes),
        Payload::Made(make) => lab.fill(&make(), &id).map(String::into_bytes),
    };
    let filled = match filled {
        Ok(filled) => filled,
        Err(lacking) => return CheckRun::only(Verdict::not_applicable(lacking)),
    };
    let shot = Transmission {
        id: has_id(check, body).then_some(id),
        body: filled,
        patience: if check.ground == ConnectionNeed::Fresh { Patience::Full } else { check.patience },
        verb: check.verb,
        path: check.path,
        edits: check.edits.to_vec(),
        pace: check.pace,
    };
    match check.ground {
        ConnectionNeed::Ready => on_ready(check, &shot, lab).await,
        ConnectionNeed::Fresh => on_fresh(check, &shot, lab).await,
    }
}

/// Whether the body carries an id an answer could repeat.
fn has_id(check: &Check, body: Payload) -> bool {
    let written = match body {
        Payload::Text(text) | Payload::Around(text, ..) => text.contains("$ID"),
        Payload::Made(_) => true,
    };
    written || check.id_text.is_some()
}

async fn on_ready(check: &Check, shot: &Transmission, lab: &mut TestBench) -> CheckRun {
    let mut exchange = match lab.ready().await {
        Ok(link) => link.exchange(shot).await,
        Err(why) => return CheckRun::unreachable(&why),
    };
    let death = pulse(lab, Some(&mut exchange)).await;
    CheckRun { outcome: ProcedureOutcome::of(judge(&check.expect, &exchange), &exchange), death, gone: false }
}

async fn on_fresh(check: &Check, shot: &Transmission, lab: &mut TestBench) -> CheckRun {
    let mut link = match lab.start(lab.revision) {
        Ok(link) => link,
        Err(error) => return CheckRun::unreachable(&error.to_string()),
    };
    let mut exchange = link.exchange(shot).await;
    let death = match &mut link {
        Connection::Stdio(_) => {
            let pulse = link.pulse(Duration::from_millis(100)).await;
            exchange.add_late(pulse.late);
            pulse.trouble
        }
        // The next connection is the proof of life; a half-made session owes nothing.
        Connection::Http(_) => lab.open(lab.revision).await.err(),
    };
    CheckRun { outcome: ProcedureOutcome::of(judge(&check.expect, &exchange), &exchange), death, gone: false }
}

/// Asks the shared connection for a sign of life; one that gives none is given up.
async fn pulse(lab: &mut TestBench, exchange: Option<&mut Exchange>) -> Option<String> {
    let answered = exchange.as_ref().is_some_and(|exchange| !exchange.answers().is_empty());
    let linger = Duration::from_millis(if answered { 20 } else { 200 });
    let pulse = match lab.ready().await {
        Ok(link) => link.pulse(linger).await,
        Err(why) => return Some(why),
    };
    if let Some(exchange) = exchange {
        exchange.add_late(pulse.late);
    }
    if pulse.trouble.is_some() {
        lab.hang_up();
    }
    pulse.trouble
}
