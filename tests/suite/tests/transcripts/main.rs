//! The transcripts of the gateway: bytes in, bytes out, the requests of the upstream and the journal.
//!
//! Each file under `tests/transcripts/gateway` is one case. Its head, up to the first `===`, is written by hand;
//! `script.rs` explains it. The rest is the outcome over both transports, in four revisions of the protocol, and without
//! MCP where the case allows it. Equal outcomes stand together. `UPDATE=1` rewrites the outcomes.

#![allow(clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]

mod blank;
mod entry_points;
mod play;
mod script;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use failwell_rpc::Revision;
use tokio::sync::Semaphore;

use crate::entry_points::EntryPoint;
use crate::script::Script;

const REVISIONS: [Revision; 4] =
    [Revision::V2024_11_05, Revision::V2025_06_18, Revision::V2025_11_25, Revision::V2026_07_28];

/// The number of programs that run at the same time.
const AT_ONCE: usize = 12;

#[tokio::test(flavor = "multi_thread")]
async fn every_case_goes_as_written() {
    let turns = Arc::new(Semaphore::new(AT_ONCE));
    let mut playing = Vec::new();
    for file in files() {
        let turns = turns.clone();
        playing.push(tokio::spawn(async move { check(&file, &turns).await }));
    }
    assert!(playing.len() > 15, "the cases are there");
    let mut problems = Vec::new();
    for played in playing {
        problems.extend(played.await.expect("no panic"));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../transcripts/gateway");
    let entries = fs::read_dir(folder).expect("the folder of transcripts");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

/// The problems of one file.
async fn check(file: &Path, turns: &Arc<Semaphore>) -> Vec<String> {
    let stored = fs::read_to_string(file).expect("a readable transcript");
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let script = match Script::parse(&stored) {
        Ok(script) => Arc::new(script),
        Err(why) => return vec![format!("{name}: {why}")],
    };
    let (outcomes, mut problems) = play_everywhere(&name, &script, turns).await;
    let now = format!("{}\n{}", script.head.trim_end(), grouped(&outcomes));
    if std::env::var_os("UPDATE").is_some() {
        fs::write(file, now).expect("the transcript is written");
    } else if now != stored {
        problems.push(format!(
            "{name} differs; read the difference, then UPDATE=1\n{}",
            differing(&stored, &now)
        ));
    }
    problems
}

/// The name of an entry point, with the revision if it speaks MCP.
type Outcome = (EntryPoint, Option<Revision>, String);

async fn play_everywhere(
    name: &str,
    script: &Arc<Script>,
    turns: &Arc<Semaphore>,
) -> (Vec<Outcome>, Vec<String>) {
    let mut playing = Vec::new();
    let mcp = [EntryPoint::Stdio, EntryPoint::Http]
        .into_iter()
        .flat_map(|entry_point| REVISIONS.map(|r| (entry_point, Some(r))));
    let plain = EntryPoint::PLAIN
        .map(|entry_point| (entry_point, None))
        .into_iter()
        .filter(|_| script.is_of_tools_alone());
    for (entry_point, revision) in mcp.chain(plain) {
        let (script, turns) = (script.clone(), turns.clone());
        playing.push(tokio::spawn(async move {
            let _turn = turns.acquire_owned().await.expect("the turns never end");
            (
                entry_point,
                revision,
                play::play(&script, entry_point, revision.unwrap_or(Revision::LATEST)).await,
            )
        }));
    }
    let (mut outcomes, mut problems) = (Vec::new(), Vec::new());
    for played in playing {
        let (entry_point, revision, played) = played.await.expect("no panic");
        let place = format!("{name}, {} {}", entry_point.name(), revision.map_or("", Revision::as_str));
        problems.extend(played.problems.iter().map(|problem| format!("{place}: {problem}")));
        outcomes.push((entry_point, revision, played.text));
    }
    (outcomes, problems)
}

/// Every distinct outcome, with the entry points and revisions that had it.
fn grouped(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    for (at, (entry_point, _, outcome)) in outcomes.iter().enumerate() {
        let same = |(other, _, found): &&Outcome| other == entry_point && found == outcome;
        if outcomes.iter().take(at).any(|earlier| same(&earlier)) {
            continue;
        }
        let revisions =
            outcomes.iter().filter(same).filter_map(|(_, revision, _)| revision.map(Revision::as_str));
        let places: Vec<&str> = std::iter::once(entry_point.name()).chain(revisions).collect();
        text.push_str(&format!("\n=== {}\n{outcome}", places.join(" ")));
    }
    text
}

/// The lines in which two texts differ.
fn differing(stored: &str, now: &str) -> String {
    let (stored, now): (Vec<&str>, Vec<&str>) = (stored.lines().collect(), now.lines().collect());
    let same = stored.iter().zip(&now).take_while(|(a, b)| a == b).count();
    let shown = |sign: char, lines: &[&str]| -> String {
        lines.iter().skip(same).take(6).map(|line| format!("{sign} {line}\n")).collect()
    };
    format!("line {}\n{}{}", same + 1, shown('-', &stored), shown('+', &now))
}
