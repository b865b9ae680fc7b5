//! Hundreds of concurrent calls, while faults are injected into the upstreams and the program.
//!
//! The real program is between callers of both eras and four upstreams. Two are child processes, which are killed and
//! stopped, and which crash, hang and send invalid messages. Two are HTTP servers, one of each era, which send every kind
//! of bad response. [`verdict`] has the invariants. The seed determines the calls and the faults.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a driver of tests is a test"
)]

mod bad_answers;
mod caller;
mod calls;
mod faults;
mod ledger;
mod pressure;
mod processes;
mod random;
mod shutdown;
mod upstreams;
mod verdict;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Parser;
use failwell_suite::program::{Folder, Program};
use rustix::process::Signal;

use crate::caller::{Caller, REVISIONS};
use crate::processes::Processes;
use crate::random::SeededRandom;
use crate::upstreams::Upstreams;
use crate::verdict::Verdict;

/// Runs many callers against upstreams with injected faults
#[derive(Parser)]
#[command(name = "chaos")]
struct Arguments {
    /// Seed of calls and faults [default: random]
    #[arg(long)]
    seed: Option<u64>,
    /// Duration of the fault injection, in seconds
    #[arg(long, default_value_t = 12)]
    seconds: u64,
    /// Concurrent calls of each of the eight callers
    #[arg(long, default_value_t = 25)]
    lanes: usize,
}

/// The time limit of recovery after the faults.
const SETTLING: Duration = Duration::from_secs(60);

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let seed = arguments.seed.unwrap_or_else(random::any_seed);
    println!("seed {seed} (repeat with --seed {seed})");
    let verdict = Arc::new(Verdict::default());
    let mark = format!("chaos-{}-{seed}", std::process::id());
    inject_faults(&arguments, seed, &mark, &verdict).await;
    shutdown::under_load(&format!("{mark}-shutdown"), &verdict).await;
    ledger::lost(&format!("{mark}-ledger"), &verdict).await;
    orphans(&format!("{mark}-orphans"), &verdict).await;
    verdict.print();
    if verdict.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Every bad response once, then load with faults, then recovery, then shutdown.
async fn inject_faults(arguments: &Arguments, seed: u64, mark: &str, verdict: &Verdict) {
    let upstreams = Upstreams::start().await;
    let config = upstreams.config(mark);
    let mut program = up(&config);
    let address = program.address().await.expect("the program comes up");
    let pid = program.pid().expect("it runs");
    let start = Instant::now();
    bad_answers::every_bad_answer(address, verdict).await;
    println!("bad answers: {:.1} s", start.elapsed().as_secs_f32());

    let mut callers = Vec::new();
    for n in 0..8 {
        callers.push(Caller::open(address, REVISIONS[n % REVISIONS.len()], format!("c{n}")).await);
    }
    let before = processes::resident(pid);
    let length = Duration::from_secs(arguments.seconds);
    let faults = faults::FaultInjection { length, lanes: arguments.lanes, program: pid };
    let mut chance = SeededRandom::new(seed);
    tokio::join!(
        faults.run(&callers, mark, &mut chance, verdict),
        pressure::reloads(program.folder(), &config, tokio::time::Instant::now() + length, verdict),
        pressure::silence(address, verdict),
    );
    faults::recover(&callers, mark, SETTLING, verdict).await;
    let after = processes::resident(pid);
    verdict.memory(before, after, processes::most_resident(pid));
    verdict.no_zombies(pid, SETTLING).await;
    for caller in callers {
        caller.close(verdict).await;
    }

    let descendants = Processes::below(pid);
    let ended = program.terminate().await;
    verdict.check(ended.success(), || format!("it ended with {ended}"));
    verdict.no_process_left(mark, &descendants, SETTLING).await;
    let journal = program.journal();
    verdict.journal(&journal);
    let (saved, read) = (verdict.counted("(saved the file)"), journal.matches("was read again").count());
    verdict.check(saved > 0 && read == saved, || {
        format!("the file was saved {saved} times and read {read} times")
    });
}

/// The program is killed while its upstreams have children of their own.
async fn orphans(mark: &str, verdict: &Verdict) {
    let upstreams = Upstreams::start().await;
    let mut program = up(&upstreams.config(mark));
    let address = program.address().await.expect("the program comes up");
    let caller = Caller::open(address, REVISIONS[0], "orphan".to_owned()).await;
    for upstream in ["one", "two"] {
        calls::spawn_below(&caller, upstream, verdict).await;
    }
    let descendants = Processes::below(program.pid().expect("it runs"));
    verdict.check(descendants.len() >= 6, || format!("only {} processes to leave behind", descendants.len()));
    program.signal(Signal::KILL);
    program.ended().await;
    verdict.no_process_left(mark, &descendants, SETTLING).await;
}

fn up(config: &str) -> Program {
    Program::start(&["up", "--listen", "127.0.0.1:0"], Folder::create(), config)
}
