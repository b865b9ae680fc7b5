//! Times every parser on every sample in turn, and compares the best rounds. Exits 1 when Failwell misses a target.

use bench_rpc::contenders::{CONTENDERS, Contender};
use bench_rpc::messages::{Sample, samples};
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const ROUNDS: usize = 12;
const ROUND: Duration = Duration::from_millis(40);
/// The required ratio of time per message, other parser to Failwell.
const TARGETS: [f64; 3] = [1.0, 3.0, 10.0];

fn main() -> Result<ExitCode, String> {
    let mut met = true;
    println!(
        "{:<20}{:<12}{:>9}{:>12}{:>9}{:>9}{:>9}",
        "message", "reader", "bytes", "ns", "MB/s", "ratio", "target"
    );
    for sample in samples() {
        let best = best_rounds(&sample)?;
        for (((name, _), time), target) in CONTENDERS.iter().zip(best).zip(TARGETS) {
            let (ratio, size) = (time / best[0], sample.bytes.len());
            let rate = size as f64 / time * 1_000.0;
            let verdict = if ratio >= target { "" } else { "  missed" };
            met &= ratio >= target;
            println!(
                "{:<20}{name:<12}{size:>9}{time:>12.0}{rate:>9.0}{ratio:>8.1}x{target:>8.0}x{verdict}",
                sample.name
            );
        }
    }
    Ok(if met { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The parsers take turns, so that other load on the machine affects all of them alike.
fn best_rounds(sample: &Sample) -> Result<[f64; 3], String> {
    let mut best = [f64::INFINITY; 3];
    let mut sink = Vec::with_capacity(sample.bytes.len() * 2);
    for _ in 0..ROUNDS {
        for ((_, contender), best) in CONTENDERS.iter().zip(&mut best) {
            *best = best.min(round(*contender, sample, &mut sink)?);
        }
    }
    Ok(best)
}

/// Nanoseconds per message, over enough messages that the resolution of the clock does not matter.
fn round(contender: Contender, sample: &Sample, sink: &mut Vec<u8>) -> Result<f64, String> {
    let per_look = (200_000 / sample.bytes.len()).max(1) as u32;
    let (started, mut count) = (Instant::now(), 0_u32);
    while started.elapsed() < ROUND {
        for _ in 0..per_look {
            sink.clear();
            contender(black_box(sample), sink)?;
            black_box(&mut *sink);
        }
        count += per_look;
    }
    Ok(started.elapsed().as_nanos() as f64 / f64::from(count))
}
