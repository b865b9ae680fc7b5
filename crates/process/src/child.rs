pub(crate) mod driver;
pub(crate) mod exit;
pub(crate) mod ring;

use std::time::Duration;

use failwell_fault::{Fault, reason};
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot};

use crate::protocol::SupervisorCommand;
use crate::{ChildExit, ExitCause, Output, Signal};

pub type InputWriter = pipe::Sender;
pub type OutputReader = pipe::Receiver;
pub type EventReader = pipe::Receiver;

/// A running child. Dropping it ends the child and all of its descendants.
#[derive(Debug)]
pub struct Child {
    pid: u32,
    orders: mpsc::Sender<SupervisorCommand>,
    ending: ExitState,
    input: Option<InputWriter>,
    events: Option<EventReader>,
    output: Option<OutputReader>,
}

#[derive(Debug)]
enum ExitState {
    Ahead(oneshot::Receiver<ChildExit>),
    Known(ChildExit),
}

impl Child {
    pub(crate) fn new(
        pid: i32,
        orders: mpsc::Sender<SupervisorCommand>,
        ended: oneshot::Receiver<ChildExit>,
        input: Option<InputWriter>,
        events: Option<EventReader>,
        output: Option<OutputReader>,
    ) -> Child {
        let pid = pid.unsigned_abs();
        Child { pid, orders, ending: ExitState::Ahead(ended), input, events, output }
    }

    /// The process id, for logs. Use [`Child::signal`] to send a signal, which cannot reach another process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The child's standard input, if the plan has a pipe; only the first call returns it. Dropping it closes
    /// the pipe.
    pub fn take_input(&mut self) -> Option<InputWriter> {
        self.input.take()
    }

    /// The child's event pipe, if the plan names a variable for it; only the first call returns it.
    pub fn take_events(&mut self) -> Option<EventReader> {
        self.events.take()
    }

    /// The child's standard output, if the plan pipes it; only the first call returns it.
    pub fn take_output(&mut self) -> Option<OutputReader> {
        self.output.take()
    }

    /// Sends a signal to the child alone. It fails with `process/ENDED` after the child has ended.
    pub async fn signal(&self, signal: Signal) -> Result<(), Fault> {
        let sent = self.orders.send(SupervisorCommand::Signal(signal)).await;
        sent.map_err(|_| Fault::new(&reason::PROCESS_ENDED))
    }

    /// Sends SIGTERM to the child, kills it and its descendants after the grace period, and returns its exit.
    pub async fn stop(&mut self, grace: Duration) -> ChildExit {
        // An ended child accepts no commands. Its exit is returned as usual.
        let _ = self.orders.send(SupervisorCommand::Stop(grace)).await;
        self.wait().await
    }

    /// Waits until the child and all of its descendants have ended. This method is cancel safe.
    pub async fn wait(&mut self) -> ChildExit {
        if let ExitState::Ahead(ended) = &mut self.ending {
            let known = ended.await.unwrap_or_else(|_| lost());
            self.ending = ExitState::Known(known);
        }
        match &self.ending {
            ExitState::Known(ended) => ended.clone(),
            ExitState::Ahead(_) => lost(),
        }
    }
}

/// The exit of a child whose driver is gone, for example after a shutdown of the runtime.
fn lost() -> ChildExit {
    ChildExit {
        how: ExitCause::Lost,
        exit: None,
        output: Output::default(),
        took: Duration::ZERO,
        survivors: 0,
    }
}
