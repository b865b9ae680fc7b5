//! Real Python and the solver, as the engine process has them: through its pipe to the server.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::protocol::{self, FromEngine, Replay, ToEngine};
use super::until;
use crate::{Dialogue, ReplayOutcome, ReplayProblem, ReplayRequest, Replayer};

/// The pipe to the server. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Outside(Arc<Mutex<Pipe>>);

struct Pipe {
    input: BufReader<File>,
    output: File,
    solvers: usize,
}

impl Outside {
    pub(super) fn of_standard_streams() -> io::Result<Outside> {
        let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let pipe = Pipe { input: BufReader::new(input), output, solvers: 0 };
        Ok(Outside(Arc::new(Mutex::new(pipe))))
    }

    /// The next message; nothing when the server is gone.
    pub(super) fn receive(&self) -> Option<ToEngine> {
        let mut pipe = self.pipe();
        pipe.solvers = 0;
        protocol::read(&mut pipe.input).ok()
    }

    /// Nothing when the server is gone.
    pub(super) fn send(&self, message: &FromEngine<'_>) -> Option<()> {
        protocol::write(&mut self.pipe().output, message).ok()
    }

    fn ask(&self, question: &FromEngine<'_>) -> Option<ToEngine> {
        let mut pipe = self.pipe();
        protocol::write(&mut pipe.output, question).ok()?;
        protocol::read(&mut pipe.input).ok()
    }

    fn pipe(&self) -> MutexGuard<'_, Pipe> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Replayer for Outside {
    fn run(&self, request: &ReplayRequest<'_>) -> Result<ReplayOutcome, ReplayProblem> {
        let question = FromEngine::Replay(Replay {
            code: Cow::Borrowed(request.code),
            function: Cow::Borrowed(request.function),
            args: Cow::Borrowed(request.args),
            kwargs: Cow::Borrowed(request.kwargs),
            conditions: Cow::Borrowed(request.conditions),
            branches: Cow::Borrowed(request.branches),
            remaining: until(request.deadline),
        });
        match self.ask(&question) {
            Some(ToEngine::Replayed(outcome)) => outcome,
            _ => Err(ReplayProblem::Broken("the server did not answer".to_owned())),
        }
    }

    fn solver(&self) -> Option<Box<dyn Dialogue>> {
        match self.ask(&FromEngine::OpenSolver) {
            Some(ToEngine::SolverOpened(true)) => {
                let mut pipe = self.pipe();
                let number = pipe.solvers;
                pipe.solvers += 1;
                drop(pipe);
                Some(Box::new(Solver { number, outside: self.clone() }))
            }
            _ => None,
        }
    }
}

/// One solver, by its number.
struct Solver {
    number: usize,
    outside: Outside,
}

impl Dialogue for Solver {
    fn ask(&mut self, commands: &str, deadline: Instant) -> Option<String> {
        let question = FromEngine::AskSolver {
            solver: self.number,
            commands: Cow::Borrowed(commands),
            remaining: until(deadline),
        };
        match self.outside.ask(&question) {
            Some(ToEngine::Solved(said)) => said,
            _ => None,
        }
    }
}

impl Drop for Solver {
    fn drop(&mut self) {
        let _ = self.outside.send(&FromEngine::CloseSolver { solver: self.number });
    }
}
