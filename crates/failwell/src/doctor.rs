//! What this machine has of what the servers need. A table of checks ([`checks`]), and a runner that makes them all
//! at once. `failwell doctor` prints the findings; `failwell up` prints [`idle`], what will not run and why.

mod checks;
mod finding;
#[cfg(target_os = "linux")]
mod kernel;
mod place;
mod program;
mod wanted;

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::timeout;

use checks::{CHECKS, Check, Look};
pub(crate) use finding::{Finding, Need, Sight, Status};
pub(crate) use wanted::Wanted;

/// How long all checks together may take.
const PATIENCE: Duration = Duration::from_millis(2_800);

/// Makes every check of this system that is wanted at once; what is not back in time counts as missing.
pub(crate) async fn examine(wanted: Wanted) -> Vec<Finding> {
    let mut running = JoinSet::new();
    for (place, check) in CHECKS.iter().enumerate().filter(|(_, check)| wanted.has_use_for(check.of)) {
        let wanted = wanted.clone();
        running.spawn(async move { (place, look(check, wanted).await) });
    }
    let mut findings = running.join_all().await;
    findings.sort_by_key(|(place, _)| *place);
    findings.into_iter().map(|(_, finding)| finding).collect()
}

async fn look(check: &'static Check, wanted: Wanted) -> Finding {
    let sight = match check.look {
        Look::Run { tries, at_least } => timeout(PATIENCE, program::look(tries, at_least)).await.ok(),
        Look::Ask(ask) => aside(ask).await,
        Look::AskAbout(ask) => aside(move || ask(&wanted)).await,
    };
    Finding::new(check, sight.unwrap_or_else(|| Sight::missing("no answer in time")))
}

/// Asks what may block.
async fn aside(ask: impl FnOnce() -> Sight + Send + 'static) -> Option<Sight> {
    timeout(PATIENCE, tokio::task::spawn_blocking(ask)).await.ok().and_then(Result::ok)
}

/// One line for each thing that will not run, with its reason and its remedy.
pub(crate) fn idle(findings: &[Finding]) -> Vec<String> {
    let wanting = findings.iter().filter(|finding| finding.status != Status::Ok);
    wanting
        .map(|finding| {
            format!("{} ({}: {}); help: {}", finding.cost, finding.name, finding.found, finding.fix)
        })
        .collect()
}

/// One short line for each part that is not there. The usual port is left out: whoever asks is listening already.
pub(crate) fn missing_parts(findings: &[Finding]) -> Vec<String> {
    let missing =
        findings.iter().filter(|finding| finding.status != Status::Ok && finding.name != "port 8484");
    missing.map(|finding| format!("{:<22} {}", finding.name, finding.cost)).collect()
}

/// The first thing that keeps the gateway itself from its job.
pub(crate) fn lacking(findings: &[Finding]) -> Option<&Finding> {
    findings.iter().find(|finding| finding.need == Need::Main && finding.status != Status::Ok)
}
