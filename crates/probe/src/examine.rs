//! The examination itself: every check, one after another, and the server asked after each whether it lives.

mod check_run;
pub(crate) mod detect;
pub(crate) mod survey;
pub(crate) mod test_bench;

use std::time::{Duration, Instant};

use crate::checks::catalogue;
use crate::checks::check::{Check, EraScope};
use crate::checks::judge::wanted;
use crate::checks::leak::{Category, LeakScanner};
use crate::checks::verdict::{Level, Verdict};
use crate::examine::detect::detect;
use crate::examine::survey::Survey;
use crate::examine::test_bench::TestBench;
use crate::failure::ProbeError;
use crate::report::{CheckReport, Report, printable, score, tally};
use crate::revision::Revision;
use crate::target::{Options, Target, Transport};
use check_run::{CheckRun, make};

/// Letters of proof kept per side.
pub(crate) const PROOF_CAP: usize = 4000;

/// Progress of an examination.
#[derive(Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// The server is started or reached, and asked for its revisions.
    Starting {
        /// The longest wait for its first answer.
        wait: Duration,
    },
    /// The server answered and these revisions are spoken.
    Detected {
        /// Oldest first.
        revisions: &'a [Revision],
        /// How many checks will be made.
        total: usize,
    },
    /// A check was made.
    Checked {
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
/// When the examination cannot begin: the server does not start, does not answer, does not speak MCP, or has no tool of the name that
/// was given.
pub async fn examine(
    target: Target,
    options: Options,
    mut on_progress: impl FnMut(Progress<'_>),
) -> Result<Report, ProbeError> {
    let summary = target.summary();
    let mut lab = TestBench::new(target, options);
    let mut scanner = LeakScanner::new(lab.known_paths(), lab.secret.clone());
    on_progress(Progress::Starting { wait: lab.first_wait() });
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
            survey(&mut lab, *revision).await;
            if current.replace(*revision).is_none() {
                has_wanted_tool(&lab)?;
            }
        }
        let began = Instant::now();
        let made = if lab.is_out_of_time() {
            complete = false;
            CheckRun::only(Verdict::not_applicable("out of time"))
        } else if let Some(since) = gone {
            CheckRun::only(Verdict::broken(format!("not reached: the server has been gone since {since}")))
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
    scanner.leaks.retain(|leak| lab.options.wants(leak.category.id()));
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
fn plan(spoken: &[Revision], lab: &TestBench) -> Vec<(Revision, &'static Check)> {
    let newest = spoken.iter().copied().filter(|revision| !revision.is_modern()).max();
    let modern = spoken.iter().copied().find(|revision| revision.is_modern());
    let mut plan = Vec::new();
    for revision in newest.into_iter().chain(modern) {
        let fits = |check: &&Check| {
            let era = match check.eras {
                EraScope::Both => true,
                EraScope::Session => !revision.is_modern(),
                EraScope::Modern => revision.is_modern(),
            };
            era && check.transport.is_none_or(|it| it == lab.transport()) && lab.options.wants(check.id)
        };
        plan.extend(catalogue::all().filter(fits).map(|check| (revision, check)));
    }
    plan
}

/// Learns what the server offers in this revision.
async fn survey(lab: &mut TestBench, revision: Revision) {
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

/// A named tool is examined instead of one that looks harmless.
fn has_wanted_tool(lab: &TestBench) -> Result<(), ProbeError> {
    let names = &lab.survey.names;
    let Some(name) = lab.options.tool.as_ref().filter(|name| !names.contains(name)) else { return Ok(()) };
    let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Err(ProbeError::NoSuchTool { name: name.clone(), has: printable(has.as_bytes(), PROOF_CAP) })
}

fn report(check: &Check, revision: Revision, made: CheckRun, duration: Duration) -> CheckReport {
    let survived = made.death.is_none() && !made.gone;
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
        survived,
        verdict,
        expected: wanted(&check.expect, revision),
        rule: check.rule.to_owned(),
        sent: printable(&made.outcome.sent, PROOF_CAP),
        got: printable(&made.outcome.got, PROOF_CAP),
        duration,
    }
}

/// One check per category, with the first leak as its proof.
fn leak_checks(scanner: &LeakScanner, lab: &TestBench) -> Vec<CheckReport> {
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
            survived: true,
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
