//! Checks the machine for the parts that the servers need. [`checks`] is the table, and all checks run at
//! once. `failwell doctor` prints the results; `failwell up` prints [`idle`], the features that will not
//! work.

mod checks;
mod configured_parts;
mod environment;
mod finding;
#[cfg(target_os = "linux")]
mod kernel;
mod program;

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::timeout;

use checks::{CHECKS, CheckMethod, LISTEN, MachineCheck};
pub(crate) use configured_parts::ConfiguredParts;
pub(crate) use finding::{CheckOutcome, Finding, Need, Status};

/// Timeout of all checks together.
const PATIENCE: Duration = Duration::from_millis(2_800);

/// Runs every applicable check at once. A check without a result at the timeout counts as missing.
pub(crate) async fn examine(wanted: ConfiguredParts) -> Vec<Finding> {
    let mut running = JoinSet::new();
    for (place, check) in CHECKS.iter().enumerate().filter(|(_, check)| wanted.has_use_for(check.of)) {
        let wanted = wanted.clone();
        running.spawn(async move { (place, look(check, wanted).await) });
    }
    let mut findings = running.join_all().await;
    findings.sort_by_key(|(place, _)| *place);
    findings.into_iter().map(|(_, finding)| finding).collect()
}

async fn look(check: &'static MachineCheck, wanted: ConfiguredParts) -> Finding {
    let outcome = match check.look {
        CheckMethod::Run { tries, at_least } => timeout(PATIENCE, program::look(tries, at_least)).await.ok(),
        CheckMethod::Ask(ask) => run_blocking(ask).await,
        CheckMethod::AskAbout(ask) => run_blocking(move || ask(&wanted)).await,
    };
    Finding::new(check, outcome.unwrap_or_else(|| CheckOutcome::missing("no answer in time")))
}

async fn run_blocking(ask: impl FnOnce() -> CheckOutcome + Send + 'static) -> Option<CheckOutcome> {
    timeout(PATIENCE, tokio::task::spawn_blocking(ask)).await.ok().and_then(Result::ok)
}

/// One line per failed check, with the consequence, the reason and the fix.
pub(crate) fn idle(findings: &[Finding]) -> Vec<String> {
    let wanting = findings.iter().filter(|finding| finding.status != Status::Ok);
    wanting
        .map(|finding| {
            format!("{} ({}: {}); help: {}", finding.cost, finding.name, finding.found, finding.fix)
        })
        .collect()
}

/// One short line per failed check. The address is left out, because `up` itself listens already.
pub(crate) fn missing_parts(findings: &[Finding]) -> Vec<String> {
    let missing = findings.iter().filter(|finding| finding.status != Status::Ok && finding.name != LISTEN);
    missing.map(|finding| format!("{:<22} {}", finding.name, finding.cost)).collect()
}

/// The first failed check that the gateway itself needs.
pub(crate) fn lacking(findings: &[Finding]) -> Option<&Finding> {
    findings.iter().find(|finding| finding.need == Need::Main && finding.status != Status::Ok)
}
