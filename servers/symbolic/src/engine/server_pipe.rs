//! CPython and the solver for the engine process, through its pipe to the server.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::{Mutex, MutexGuard};

use super::protocol;
use super::protocol::{FromEngine, ReplayCall, ToEngine};
use super::remaining_until;
use crate::{ReplayOutcome, ReplayProblem, ReplayRequest, Replayer, SolverConnection};

/// The engine's pipe to the server. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ServerPipe(Arc<Mutex<PipeEnds>>);

struct PipeEnds {
    input: BufReader<File>,
    output: File,
    solvers: usize,
}

impl ServerPipe {
    pub(super) fn from_stdio() -> io::Result<ServerPipe> {
        let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let pipe = PipeEnds { input: BufReader::new(input), output, solvers: 0 };
        Ok(ServerPipe(Arc::new(Mutex::new(pipe))))
    }

    /// The next message. `None` if the server is gone.
    pub(super) fn receive(&self) -> Option<ToEngine> {
        let mut pipe = self.pipe();
        pipe.solvers = 0;
        protocol::read(&mut pipe.input).ok()
    }

    /// Sends a message. `None` if the server is gone.
    pub(super) fn send(&self, message: &FromEngine<'_>) -> Option<()> {
        protocol::write(&mut self.pipe().output, message).ok()
    }

    fn ask(&self, question: &FromEngine<'_>) -> Option<ToEngine> {
        let mut pipe = self.pipe();
        protocol::write(&mut pipe.output, question).ok()?;
        protocol::read(&mut pipe.input).ok()
    }

    fn pipe(&self) -> MutexGuard<'_, PipeEnds> {
        self.0.lock()
    }
}

impl Replayer for ServerPipe {
    fn run(&self, request: &ReplayRequest<'_>) -> Result<ReplayOutcome, ReplayProblem> {
        let question = FromEngine::Replay(ReplayCall {
            code: Cow::Borrowed(request.code),
            function: Cow::Borrowed(request.function),
            args: Cow::Borrowed(request.args),
            kwargs: Cow::Borrowed(request.kwargs),
            conditions: Cow::Borrowed(request.conditions),
            branches: Cow::Borrowed(request.branches),
            remaining: remaining_until(request.deadline),
        });
        match self.ask(&question) {
            Some(ToEngine::Replayed(outcome)) => outcome,
            _ => Err(ReplayProblem::Broken("the server did not answer".to_owned())),
        }
    }

    fn solver(&self) -> Option<Box<dyn SolverConnection>> {
        match self.ask(&FromEngine::OpenSolver) {
            Some(ToEngine::SolverOpened(true)) => {
                let mut pipe = self.pipe();
                let number = pipe.solvers;
                pipe.solvers += 1;
                drop(pipe);
                Some(Box::new(RemoteSolver { number, outside: self.clone() }))
            }
            _ => None,
        }
    }
}

/// A solver of the server, used through the pipe.
struct RemoteSolver {
    number: usize,
    outside: ServerPipe,
}

impl SolverConnection for RemoteSolver {
    fn ask(&mut self, commands: &str, deadline: Instant) -> Option<String> {
        let question = FromEngine::AskSolver {
            solver: self.number,
            commands: Cow::Borrowed(commands),
            remaining: remaining_until(deadline),
        };
        match self.outside.ask(&question) {
            Some(ToEngine::Solved(answer)) => answer,
            _ => None,
        }
    }
}

impl Drop for RemoteSolver {
    fn drop(&mut self) {
        let _ = self.outside.send(&FromEngine::CloseSolver { solver: self.number });
    }
}
