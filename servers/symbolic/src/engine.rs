//! The engine as a process: it analyses what the server sends it, one analysis at a time, and asks the server for real
//! Python and for the solver.
//!
//! # Invariants
//!
//! * Whatever ends this process costs one call: the one it was working on.
//! * It opens no file and starts no program. Its pipe to the server is all it has.
//! * It runs no code of a caller, as the rest of this crate.

mod outside;
pub(crate) mod protocol;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use outside::Outside;
use protocol::{Assignment, Done, FromEngine, Job, Rejection, Report, ToEngine};

use crate::analyse::{Budget, Progress};
use crate::memory::{self, MemoryWatch};
use crate::{Program, stack, tools, validate};

/// The hidden argument by which a program knows that it is meant to analyse.
pub const ENGINE_ARGUMENT: &str = "__analyse";

/// An engine that still holds more than this after an analysis is not used again.
const MOST_KEPT: u64 = 192 << 20;

/// Everything an analysis is made with.
pub(crate) struct Workbench<'a> {
    pub(crate) program: &'a Program,
    pub(crate) budget: Budget,
    pub(crate) outside: &'a Outside,
}

/// Analyses until the server closes the pipe. `limit` is the second argument: megabytes of memory for an analysis.
pub fn engine_main(limit: Option<&str>) -> ExitCode {
    let served = limit.and_then(|limit| limit.parse::<u64>().ok()).and_then(|megabytes| {
        let watch = MemoryWatch::start(megabytes << 20).ok()?;
        let outside = Outside::of_standard_streams().ok()?;
        // The server learns that an engine crashed from the way it ended, not from words on a terminal.
        stack::deep(|| serve(&outside, watch))
    });
    match served {
        Some(()) => ExitCode::SUCCESS,
        None => ExitCode::FAILURE,
    }
}

fn serve(outside: &Outside, watch: &MemoryWatch) {
    while let Some(ToEngine::Analyse(assignment)) = outside.receive() {
        watch.begin();
        let result = perform(outside, assignment);
        watch.end();
        let is_spent = memory::resident().is_some_and(|resident| resident > MOST_KEPT);
        if outside.send(&FromEngine::Done(Done { result, is_spent })).is_none() || is_spent {
            return;
        }
    }
}

fn perform(outside: &Outside, assignment: Assignment) -> Result<Report, Rejection> {
    let Assignment { job, remaining } = assignment;
    let code = job.code();
    validate::validate(code).map_err(Rejection::Refused)?;
    let program = Program::parse(code).map_err(|problem| {
        let line = usize::try_from(problem.line).unwrap_or(usize::MAX);
        Rejection::Refused(validate::Refusal::Syntax { line })
    })?;
    let known = program.functions();
    if let Some(function) = job.functions().into_iter().find(|function| !known.contains(function)) {
        return Err(Rejection::UnknownFunction { function, known });
    }
    outside.send(&FromEngine::Accepted);
    let deadline = Instant::now() + remaining;
    let budget = Budget { deadline, ..Budget::for_seconds(job.seconds()) };
    let bench = Workbench { program: &program, budget, outside };
    Ok(match &job {
        Job::Check(asked) => Report::Check(tools::check(&bench, asked)),
        Job::Exceptions(asked) => Report::Exceptions(tools::exceptions(&bench, asked)),
        Job::Compare(asked) => Report::Compare(tools::compare(&bench, asked)),
        Job::Branches(asked) => Report::Branches(tools::branches(&bench, asked)),
        Job::Functions { .. } => Report::Functions(known),
    })
}

impl Progress for Outside {
    fn round(&self, round: u32, paths: u64) {
        // A server that is gone is noticed at the next question.
        let _ = self.send(&FromEngine::Round(round, paths));
    }
}

/// How long until then, as the other process is told.
fn until(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}
