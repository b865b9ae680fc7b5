//! Counts the bytes allocated to read one message and pass it on. Exits 1 when Failwell's grow with the message.

use allocation_counter::measure;
use bench_rpc::contenders::CONTENDERS;
use bench_rpc::messages::samples;
use std::process::ExitCode;

/// The most bytes that Failwell may allocate for a message of any size: the id, nothing of the payload.
const BOUND: u64 = 256;

fn main() -> Result<ExitCode, String> {
    let mut met = true;
    println!("{:<20}{:<12}{:>9}{:>13}{:>12}", "message", "reader", "bytes", "allocations", "allocated");
    for sample in samples() {
        let mut sink = Vec::with_capacity(sample.bytes.len() * 2);
        for (name, contender) in CONTENDERS {
            // The first message allocates the buffers that later ones reuse.
            contender(&sample, &mut sink)?;
            let mut outcome = Ok(());
            let info = measure(|| {
                sink.clear();
                outcome = contender(&sample, &mut sink);
            });
            outcome?;
            let missed = name == "failwell" && info.bytes_total > BOUND;
            met &= !missed;
            let verdict = if missed { "  missed" } else { "" };
            let (count, total) = (info.count_total, info.bytes_total);
            println!("{:<20}{name:<12}{:>9}{count:>13}{total:>12}{verdict}", sample.name, sample.bytes.len());
        }
    }
    Ok(if met { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
