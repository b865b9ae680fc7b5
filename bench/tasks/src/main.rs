//! Searches among ten thousand tasks, and the cost of reading changes, against an emulator in the same process.

mod tasks_bench;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use tasks_bench::TasksBench;

const TASKS: usize = 10_000;
const ROUNDS: usize = 300;
const ASKED_ROUNDS: usize = 15;

const QUESTIONS: [(&str, &str); 4] = [
    ("one list", "list:\"List 7\" AND status:incomplete"),
    ("due and important", "status:incomplete AND dueBefore:2031-02-01 AND priority:1"),
    ("by tag or word", "tag:tag3 OR name:\"number 99\""),
    ("nothing fits", "tag:nothing"),
];

#[tokio::main]
async fn main() -> ExitCode {
    let bench = TasksBench::new(TASKS).await;
    println!("{TASKS} tasks, page of 50; times include the walk and the answer");
    let mut bars = Vec::new();
    for (name, filter) in QUESTIONS {
        bars.push(compare(&bench, name, filter).await);
    }
    bars.push(traffic(&bench).await);
    for (held, text) in &bars {
        println!("{} {text}", if *held { "held  " } else { "MISSED" });
    }
    if bars.iter().all(|(held, _)| *held) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Compares a query that the cache answers with one that the service answers.
async fn compare(bench: &TasksBench, name: &str, filter: &str) -> (bool, String) {
    let arguments = json!({"filter": filter});
    let known = timed(bench, "rtm_findTasks", &arguments, ROUNDS).await;
    let asked = timed(bench, "rtm_getTasks", &arguments, ASKED_ROUNDS).await;
    let (half, most, peer) = (at(&known, 50), at(&known, 99), at(&asked, 50));
    println!("  {name:<20} known p50 {half:>8.2?} p99 {most:>8.2?}   asked p50 {peer:>8.2?}");
    let held = half < peer;
    (
        held,
        format!("{name}: knowing is {:.1} times as quick as asking", peer.as_secs_f64() / half.as_secs_f64()),
    )
}

async fn timed(bench: &TasksBench, tool: &str, arguments: &Value, rounds: usize) -> Vec<Duration> {
    bench.call(tool, arguments.clone()).await;
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let began = Instant::now();
        bench.call(tool, arguments.clone()).await;
        times.push(began.elapsed());
    }
    times.sort();
    times
}

fn at(sorted: &[Duration], percent: usize) -> Duration {
    sorted
        .get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1)))
        .copied()
        .unwrap_or_default()
}

/// Measures the cost of reading one changed task.
async fn traffic(bench: &TasksBench) -> (bool, String) {
    let whole = bench.bytes("reload");
    // All tasks were created in the same second, so the first request for changes returns them once more.
    bench.change(50).await;
    bench.look().await;
    let before = (bench.bytes("update"), bench.updates());
    for round in 0..20 {
        bench.change(round).await;
        bench.look().await;
    }
    let updates = bench.updates() - before.1;
    let each = (bench.bytes("update") - before.0) / updates.max(1);
    println!("  everything once: {whole} bytes; one change: {each} bytes ({updates} looks)");
    let ratio = whole as f64 / each.max(1) as f64;
    (ratio > 100.0, format!("keeping up takes {ratio:.0} times less traffic than reading everything"))
}
