use std::time::Duration;

use failwell_fault::{Fault, reason};
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot};

use crate::letters::Order;
use crate::{Ended, How, Output, Signal};

/// What the child reads.
pub type InputWriter = pipe::Sender;
/// What the child writes to its standard output.
pub type OutputReader = pipe::Receiver;
/// What the child writes to its pipe for events.
pub type EventReader = pipe::Receiver;

/// A running child. Dropped, it goes, and everything it started with it.
#[derive(Debug)]
pub struct Child {
    pid: u32,
    orders: mpsc::Sender<Order>,
    ending: Ending,
    input: Option<InputWriter>,
    events: Option<EventReader>,
    output: Option<OutputReader>,
}

#[derive(Debug)]
enum Ending {
    Ahead(oneshot::Receiver<Ended>),
    Known(Ended),
}

impl Child {
    pub(crate) fn new(
        pid: i32,
        orders: mpsc::Sender<Order>,
        ended: oneshot::Receiver<Ended>,
        input: Option<InputWriter>,
        events: Option<EventReader>,
        output: Option<OutputReader>,
    ) -> Child {
        let pid = pid.unsigned_abs();
        Child { pid, orders, ending: Ending::Ahead(ended), input, events, output }
    }

    /// The child's number, for logs. To signal it use [`Child::signal`], which cannot hit another.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The child's input, once, if the plan has a pipe there. Dropped, the child reads the end of it.
    pub fn take_input(&mut self) -> Option<InputWriter> {
        self.input.take()
    }

    /// The child's events, once, if the plan names a variable for them.
    pub fn take_events(&mut self) -> Option<EventReader> {
        self.events.take()
    }

    /// The child's standard output, once, if the plan does not have it collected.
    pub fn take_output(&mut self) -> Option<OutputReader> {
        self.output.take()
    }

    /// Sends the child, and it alone, a signal. Fails with `process/ENDED` when there is nobody to get it.
    pub async fn signal(&self, signal: Signal) -> Result<(), Fault> {
        let sent = self.orders.send(Order::Signal(signal)).await;
        sent.map_err(|_| Fault::new(&reason::PROCESS_ENDED))
    }

    /// Asks the child to end (SIGTERM), kills it and all it started after the grace, and says how it went.
    pub async fn stop(&mut self, grace: Duration) -> Ended {
        // A child that has ended takes no orders, and is waited for just the same.
        let _ = self.orders.send(Order::Stop(grace)).await;
        self.wait().await
    }

    /// Waits until the child and everything it started is gone. May be given up and called again.
    pub async fn wait(&mut self) -> Ended {
        if let Ending::Ahead(ended) = &mut self.ending {
            let known = ended.await.unwrap_or_else(|_| lost());
            self.ending = Ending::Known(known);
        }
        match &self.ending {
            Ending::Known(ended) => ended.clone(),
            Ending::Ahead(_) => lost(),
        }
    }
}

/// What is known of a child whose driver is gone, as when the runtime shuts down.
fn lost() -> Ended {
    Ended { how: How::Lost, exit: None, output: Output::default(), took: Duration::ZERO, survivors: 0 }
}
