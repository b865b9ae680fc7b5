//! The engine as a process. It analyses the server's jobs one at a time, and asks the server for replays in
//! CPython and for the solver.
//!
//! # Invariants
//!
//! * A crash of this process costs one call: the current one.
//! * It opens no file and starts no program. It has only its pipe to the server.
//! * It does not run code of a caller, like the rest of this crate.

pub(crate) mod protocol;
mod server_pipe;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use protocol::{AnalysisEnd, AnalysisReport, AnalysisRequest, FromEngine, Job, Rejection, ToEngine};
use server_pipe::ServerPipe;

use crate::Program;
use crate::analyse::stack;
use crate::analyse::{Analysis, Budget, Progress};
use crate::frontend::validate;
use crate::memory::{self, MemoryWatch};
use crate::server::tools;

/// The hidden argument that turns the program into an engine.
pub const ENGINE_ARGUMENT: &str = "__analyse";

/// An engine that uses more memory than this after an analysis is not reused.
const MOST_KEPT: u64 = 192 << 20;

/// Runs analyses until the server closes the pipe. `limit` is the second argument: the memory limit of an
/// analysis in megabytes.
pub fn engine_main(limit: Option<&str>) -> ExitCode {
    let served = limit.and_then(|limit| limit.parse::<u64>().ok()).and_then(|megabytes| {
        let watch = MemoryWatch::start(megabytes << 20).ok()?;
        let outside = ServerPipe::from_stdio().ok()?;
        // The server detects a crash by the exit status. The engine prints no message.
        stack::with_deep_stack(|| serve(&outside, watch))
    });
    match served {
        Some(()) => ExitCode::SUCCESS,
        None => ExitCode::FAILURE,
    }
}

fn serve(outside: &ServerPipe, watch: &MemoryWatch) {
    while let Some(ToEngine::Analyse(assignment)) = outside.receive() {
        watch.begin();
        let result = perform(outside, assignment);
        watch.end();
        let is_spent = memory::resident().is_some_and(|resident| resident > MOST_KEPT);
        if outside.send(&FromEngine::Done(AnalysisEnd { result, is_spent })).is_none() || is_spent {
            return;
        }
    }
}

fn perform(outside: &ServerPipe, assignment: AnalysisRequest) -> Result<AnalysisReport, Rejection> {
    let AnalysisRequest { job, remaining } = assignment;
    let code = job.code();
    validate::validate(code).map_err(Rejection::Refused)?;
    let program = Program::parse(code).map_err(|problem| {
        let line = usize::try_from(problem.line).unwrap_or(usize::MAX);
        Rejection::Refused(validate::ValidationError::Syntax { line })
    })?;
    let known = program.functions();
    if let Some(function) = job.functions().into_iter().find(|function| !known.contains(function)) {
        return Err(Rejection::UnknownFunction { function, known });
    }
    outside.send(&FromEngine::Accepted);
    let deadline = Instant::now() + remaining;
    let budget = Budget { deadline, ..Budget::for_seconds(job.seconds()) };
    let analysis = Analysis { program: &program, budget, replayer: outside, progress: outside };
    Ok(match &job {
        Job::Check(asked) => AnalysisReport::Check(tools::check(&analysis, asked)),
        Job::Exceptions(asked) => AnalysisReport::Exceptions(tools::exceptions(&analysis, asked)),
        Job::Compare(asked) => AnalysisReport::Compare(tools::compare(&analysis, asked)),
        Job::Branches(asked) => AnalysisReport::Branches(tools::branches(&analysis, asked)),
        Job::Functions { .. } => AnalysisReport::Functions(known),
    })
}

impl Progress for ServerPipe {
    fn round(&self, round: u32, paths: u64) {
        // The next query detects a server that is gone.
        let _ = self.send(&FromEngine::Round(round, paths));
    }
}

/// The remaining time. Two processes share no monotonic clock, so messages contain durations.
fn remaining_until(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}
