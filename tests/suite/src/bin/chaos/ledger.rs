//! Removes the ledger while calls run. Every call must be recorded or refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::Instant;

use crate::caller::{Caller, REVISIONS};
use crate::calls::{Call, answer_of_any_status};
use crate::upstreams::Upstreams;
use crate::verdict::Verdict;
use crate::{SETTLING, up};

const LENGTH: Duration = Duration::from_secs(4);
const LANES: usize = 5;
const REFUSED: &str = "audit/FAILED";

/// Each call is answered or refused, and the refusal says whether it may have had an effect; then the program goes on with a new ledger.
pub(crate) async fn lost(mark: &str, verdict: &Verdict) {
    let upstreams = Upstreams::start().await;
    let mut program = up(&format!("{}\n[audit]\ncritical = true\n", upstreams.config(mark)));
    let address = program.address().await.expect("the program comes up");
    let mut callers = Vec::new();
    for (n, revision) in REVISIONS.into_iter().enumerate() {
        callers.push(Caller::open(address, revision, format!("ledger{n}")).await);
    }
    let end = Instant::now() + LENGTH;
    let lanes = callers.iter().flat_map(|caller| (0..LANES).map(move |_| caller));
    let lanes = join_all(lanes.map(|caller| lane(caller, end, verdict)));
    let folder = program.folder().to_owned();
    tokio::join!(lanes, remove(&folder, verdict));
    for caller in &callers {
        let patience = Instant::now() + SETTLING;
        while call(caller, verdict).await != Some(true) {
            verdict.check(Instant::now() < patience, || "no call is answered after the loss".to_owned());
            if Instant::now() >= patience {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    let ended = program.terminate().await;
    verdict.check(ended.success(), || format!("it ended with {ended}"));
    let is_reported = program.journal().contains("removed or replaced");
    verdict.check(is_reported, || "the journal does not tell of the loss".to_owned());
    verdict.check(verdict.counted("ledger lost: answered") > 0, || "no call was answered".to_owned());
    verdict.check(verdict.counted("ledger lost: refused") > 0, || "no call was refused".to_owned());
}

async fn lane(caller: &Caller, end: Instant, verdict: &Verdict) {
    while Instant::now() < end {
        call(caller, verdict).await;
    }
}

/// Whether the call succeeded; `None` without a valid response.
async fn call(caller: &Caller, verdict: &Verdict) -> Option<bool> {
    let (call, id) = (Call::good("one", &caller.id()), caller.id());
    let response = caller.post(&mut None, call.message(caller, &id).as_bytes()).await;
    let seen = answer_of_any_status(&response, &id, verdict)?;
    let fault = seen.fault().map(|fault| fault["effect"].clone());
    // A call that ran when the ledger was removed may have had its effect.
    let right = fault
        .as_ref()
        .is_none_or(|effect| seen.reason() == REFUSED && (effect == "none" || effect == "unknown"));
    verdict.check(right, || format!("a call beside a lost ledger: {}", seen.text));
    verdict.count(format!("ledger lost: {}", if fault.is_none() { "answered" } else { "refused" }));
    Some(fault.is_none())
}

/// Removes the files of the ledger twice while calls run.
async fn remove(folder: &Path, verdict: &Verdict) {
    for _ in 0..2 {
        tokio::time::sleep(LENGTH / 3).await;
        let files = ledger_files(folder);
        verdict.check(!files.is_empty(), || "there is no ledger to remove".to_owned());
        for file in files {
            let _ = fs::remove_file(file);
        }
    }
}

fn ledger_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_ledger = entry.file_name().to_string_lossy().starts_with("ledger.sqlite");
        match path.is_dir() {
            true => found.extend(ledger_files(&path)),
            false if is_ledger => found.push(path),
            false => {}
        }
    }
    found
}
