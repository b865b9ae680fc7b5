//! The replay workers of the symbolic server, without the validation in front of them: their responses, and the sandbox
//! against code that validation would refuse.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

mod answers;
mod escapes;

use std::time::{Duration, Instant};

use failwell_process::Launcher;
use failwell_symbolic::replay::{SandboxMode, WorkerPool};
use failwell_symbolic::{Condition, PyValue, ReplayOutcome, ReplayProblem, ReplayRequest};

fn pool() -> WorkerPool {
    WorkerPool::new(Launcher::at(env!("CARGO_BIN_EXE_supervisor")), None, SandboxMode::Required)
}

async fn call(
    pool: &WorkerPool,
    code: &str,
    args: &[PyValue],
    conditions: &[Condition],
    limit: Duration,
) -> Result<ReplayOutcome, ReplayProblem> {
    let deadline = Instant::now() + limit;
    let request =
        ReplayRequest { code, function: "f", args, kwargs: &[], conditions, branches: &[], deadline };
    pool.call(&request).await
}
