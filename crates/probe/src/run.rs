//! The examination itself: every check, one after another, and the server asked after each whether it lives.

use std::time::{Duration, Instant};

use crate::catalogue;
use crate::check::{Act, Body, Check, Eras, Ground};
use crate::detect::detect;
use crate::exchange::Exchange;
use crate::failure::ProbeError;
use crate::judge::{judge, wanted};
use crate::lab::Lab;
use crate::leak::{Category, Scanner};
use crate::link::{Link, Patience, Shot, fresh_id};
use crate::report::{CheckReport, Report, printable, score, tally};
use crate::revision::Revision;
use crate::special::{Outcome, perform};
use crate::survey::Survey;
use crate::target::{Options, Target, Transport};
use crate::verdict::{Level, Verdict};

/// Letters of proof kept per side.
pub(crate) const PROOF_CAP: usize = 4000;

/// What is going on, for a progress display.
#[derive(Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// The server answered and these revisions are spoken.
    Detected {
        /// Oldest first.
        revisions: &'a [Revision],
        /// How many checks will be made.
        total: usize,
    },
    /// A check was made.
    Checked {
        /// Its report.
        report: &'a CheckReport,
        /// How many were made so far.
        done: usize,
        /// How many there are.
        total: usize,
    },
}

/// Drives a server through every failure.
///
/// # Errors
/// When the examination cannot begin: nothing to start, nobody there, or nobody who speaks MCP.
pub async fn examine(
    target: Target,
    options: Options,
    mut on_progress: impl FnMut(Progress<'_>),
) -> Result<Report, ProbeError> {
    let summary = target.summary();
    let mut lab = Lab::new(target, options);
    let mut scanner = Scanner::new(lab.known_paths(), lab.secret.clone());
    let spoken = detect(&mut lab).await?;
    scanner.scan("version", b"", &lab.tape.take());
    lab.spoken.clone_from(&spoken.revisions);
    let plan = plan(&spoken.revisions, &lab);
    on_progress(Progress::Detected { revisions: &spoken.revisions, total: plan.len() });

    let mut checks: Vec<CheckReport> =
        spoken.checks.into_iter().filter(|check| lab.options.wants(&check.id)).collect();
    let mut gone: Option<&'static str> = None;
    let mut complete = true;
    let mut current = None;
    for (done, (revision, check)) in plan.iter().enumerate() {
        if current != Some(*revision) {
            current = Some(*revision);
            look_around(&mut lab, *revision).await;
        }
        let began = Instant::now();
        let made = if lab.is_out_of_time() {
            complete = false;
            Made::only(Verdict::not_applicable("out of time"))
        } else if let Some(since) = gone {
            Made::only(Verdict::broken(format!("not reached: the server has been gone since {since}")))
        } else {
            make(check, &mut lab).await
        };
        if made.gone && gone.is_none() {
            gone = Some(check.id);
        }
        scanner.scan(check.id, &made.outcome.sent, &lab.tape.take());
        checks.push(report(check, *revision, made, began.elapsed()));
        if let Some(report) = checks.last() {
            on_progress(Progress::Checked { report, done: done + 1, total: plan.len() });
        }
    }
    checks.extend(leak_checks(&scanner, &lab));
    let Survey { name, version, harmless, .. } = lab.survey.clone();
    Ok(Report {
        target: summary,
        transport: lab.transport(),
        server_name: name,
        server_version: version,
        revisions: spoken.revisions,
        tool: harmless.map(|tool| tool.name),
        score: score(&checks),
        tally: tally(&checks),
        checks,
        leaks: scanner.leaks,
        complete,
        duration: lab.elapsed(),
    })
}

/// The newest session revision, then the modern one; in each, what applies.
fn plan(spoken: &[Revision], lab: &Lab) -> Vec<(Revision, &'static Check)> {
    let newest = spoken.iter().copied().filter(|revision| !revision.is_modern()).max();
    let modern = spoken.iter().copied().find(|revision| revision.is_modern());
    let mut plan = Vec::new();
    for revision in newest.into_iter().chain(modern) {
        let fits = |check: &&Check| {
            let era = match check.eras {
                Eras::Both => true,
                Eras::Session => !revision.is_modern(),
                Eras::Modern => revision.is_modern(),
            };
            era && check.transport.is_none_or(|it| it == lab.transport()) && lab.options.wants(check.id)
        };
        plan.extend(catalogue::all().filter(fits).map(|check| (revision, check)));
    }
    plan
}

/// Learns what the server offers in this revision.
async fn look_around(lab: &mut Lab, revision: Revision) {
    lab.hang_up();
    lab.revision = revision;
    if let Ok((mut link, hello)) = lab.open(revision).await {
        let wanted = lab.options.tool.clone();
        let survey = Survey::take(&mut link, &hello, wanted.as_deref()).await;
        let earlier = std::mem::replace(&mut lab.survey, survey);
        lab.survey.name = lab.survey.name.take().or(earlier.name);
        lab.survey.version = lab.survey.version.take().or(earlier.version);
    }
}

/// A check as it came out.
struct Made {
    outcome: Outcome,
    /// Why the server is thought not to have survived.
    death: Option<String>,
    /// Whether it could not be reached at all.
    gone: bool,
}

impl Made {
    fn only(verdict: Verdict) -> Self {
        Self { outcome: Outcome::new(verdict, b"", b""), death: None, gone: false }
    }

    fn unreachable(why: &str) -> Self {
        Self {
            gone: true,
            ..Self::only(Verdict::broken(format!("the server cannot be reached any more: {why}")))
        }
    }
}

async fn make(check: &Check, lab: &mut Lab) -> Made {
    if let Some(capability) = check.capability.filter(|capability| !lab.survey.can(capability)) {
        return Made::only(Verdict::not_applicable(format!("the server does not offer {capability}")));
    }
    match check.act {
        Act::Send(body) => send(check, body, lab).await,
        Act::Special(special) => match perform(special, lab).await {
            Ok(outcome) => {
                let death = pulse(lab, None).await;
                Made { outcome, death, gone: false }
            }
            Err(why) => Made::unreachable(&why),
        },
    }
}

async fn send(check: &Check, body: Body, lab: &mut Lab) -> Made {
    let id = check.id_text.map_or_else(|| fresh_id("p"), str::to_owned);
    let filled = match body {
        Body::Around(before, bytes, after) => lab.fill(before, &id).and_then(|before| {
            let after = lab.fill(after, &id)?;
            Ok([before.as_bytes(), bytes, after.as_bytes()].concat())
        }),
        Body::Text(text) => lab.fill(text, &id).map(String::into_bytes),
        Body::Made(make) => lab.fill(&make(), &id).map(String::into_bytes),
    };
    let filled = match filled {
        Ok(filled) => filled,
        Err(lacking) => return Made::only(Verdict::not_applicable(lacking)),
    };
    let shot = Shot {
        id: has_id(check, body).then_some(id),
        body: filled,
        patience: if check.ground == Ground::Fresh { Patience::Full } else { check.patience },
        verb: check.verb,
        path: check.path,
        edits: check.edits.to_vec(),
        pace: check.pace,
    };
    match check.ground {
        Ground::Ready => on_ready(check, &shot, lab).await,
        Ground::Fresh => on_fresh(check, &shot, lab).await,
    }
}

/// Whether the body carries an id an answer could repeat.
fn has_id(check: &Check, body: Body) -> bool {
    let written = match body {
        Body::Text(text) | Body::Around(text, ..) => text.contains("$ID"),
        Body::Made(_) => true,
    };
    written || check.id_text.is_some()
}

async fn on_ready(check: &Check, shot: &Shot, lab: &mut Lab) -> Made {
    let mut exchange = match lab.ready().await {
        Ok(link) => link.exchange(shot).await,
        Err(why) => return Made::unreachable(&why),
    };
    let death = pulse(lab, Some(&mut exchange)).await;
    Made { outcome: Outcome::of(judge(&check.expect, &exchange), &exchange), death, gone: false }
}

async fn on_fresh(check: &Check, shot: &Shot, lab: &mut Lab) -> Made {
    let mut link = match lab.start(lab.revision) {
        Ok(link) => link,
        Err(error) => return Made::unreachable(&error.to_string()),
    };
    let mut exchange = link.exchange(shot).await;
    let death = match &mut link {
        Link::Stdio(_) => {
            let pulse = link.pulse(Duration::from_millis(100)).await;
            exchange.add_late(pulse.late);
            pulse.trouble
        }
        // The next connection is the proof of life; a half-made session owes nothing.
        Link::Http(_) => lab.open(lab.revision).await.err(),
    };
    Made { outcome: Outcome::of(judge(&check.expect, &exchange), &exchange), death, gone: false }
}

/// Asks the shared connection for a sign of life; one that gives none is given up.
async fn pulse(lab: &mut Lab, exchange: Option<&mut Exchange>) -> Option<String> {
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

fn report(check: &Check, revision: Revision, made: Made, duration: Duration) -> CheckReport {
    let (level, verdict) = match made.death {
        Some(why) => {
            (if check.level == Level::Should { Level::Must } else { check.level }, Verdict::broken(why))
        }
        None => (check.level, made.outcome.verdict),
    };
    CheckReport {
        id: check.id.to_owned(),
        group: check.group().to_owned(),
        title: check.title.to_owned(),
        level,
        revision,
        verdict,
        expected: wanted(&check.expect, revision),
        rule: check.rule.to_owned(),
        sent: printable(&made.outcome.sent, PROOF_CAP),
        got: printable(&made.outcome.got, PROOF_CAP),
        duration,
    }
}

/// One check per category, with the first leak as its proof.
fn leak_checks(scanner: &Scanner, lab: &Lab) -> Vec<CheckReport> {
    let mut checks = Vec::new();
    for category in Category::ALL.into_iter().filter(|category| lab.options.wants(category.id())) {
        let mut found = scanner.leaks.iter().filter(|leak| leak.category == category);
        let first = found.next();
        let verdict = match first {
            Some(first) => {
                Verdict::broken(format!("seen in {} and {} more checks", first.check, found.count()))
            }
            None if category == Category::Environment && lab.transport() == Transport::Http => {
                Verdict::not_applicable("nothing can be planted in the environment of a running server")
            }
            None => Verdict::HELD,
        };
        checks.push(CheckReport {
            id: category.id().to_owned(),
            group: "leak".to_owned(),
            title: category.title().to_owned(),
            level: category.level(),
            revision: lab.revision,
            verdict,
            expected: "none".to_owned(),
            rule: category.rule().to_owned(),
            sent: String::new(),
            got: first.map(|leak| printable(leak.excerpt.as_bytes(), PROOF_CAP)).unwrap_or_default(),
            duration: Duration::ZERO,
        });
    }
    checks
}
