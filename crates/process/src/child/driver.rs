//! The task behind a [`Child`](crate::Child). It drains the output, forwards commands, waits for the exit and
//! reaps the supervisor. The task outlives the handle, so that a dropped child is cleaned up too.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal as Raw};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep_until, timeout};

use crate::child::ring::Ring;
use crate::launcher::SupervisorLink;
use crate::orphans::{self, SupervisorGuard};
use crate::protocol::{SupervisorCommand, SupervisorReport, line};
use crate::supervisor::SWEEP;
use crate::{Caps, CapturedOutput, ChildExit, Exit, ExitCause, Output};

/// Capacity of the command queue.
const ORDERS: usize = 16;

/// Extra time for a supervisor, on top of its own timeouts, before it counts as dead.
const MARGIN: Duration = Duration::from_secs(5);

/// Maximum number of bytes read from a pipe after all of its writers have ended.
const LAST_WORDS: usize = 16 * 1024 * 1024;

pub(crate) struct Driver {
    pub(crate) supervisor: tokio::process::Child,
    pub(crate) charge: SupervisorGuard,
    pub(crate) link: SupervisorLink,
    pub(crate) pid: i32,
    pub(crate) began: Instant,
    /// Time until the supervisor itself starts to kill, if the plan has such a limit.
    pub(crate) patience: Option<Duration>,
    pub(crate) grace: Duration,
    pub(crate) stdout: Collector,
    pub(crate) stderr: Collector,
}

/// Spawns the task.
pub(crate) fn run(driver: Driver) -> (mpsc::Sender<SupervisorCommand>, oneshot::Receiver<ChildExit>) {
    let (orders, incoming) = mpsc::channel(ORDERS);
    let (tell, ended) = oneshot::channel();
    tokio::spawn(async move {
        driver.drive(incoming, tell).await;
    });
    (orders, ended)
}

impl Driver {
    async fn drive(
        mut self,
        mut orders: mpsc::Receiver<SupervisorCommand>,
        tell: oneshot::Sender<ChildExit>,
    ) {
        let mut deadline = self.patience.map(|patience| self.latest(patience));
        let mut obeyed = true;
        let report = loop {
            tokio::select! {
                report = self.link.next() => break report,
                order = orders.recv(), if obeyed => {
                    let grace = match &order {
                        Some(SupervisorCommand::Signal(_)) => None,
                        Some(SupervisorCommand::Stop(grace)) => Some(*grace),
                        None => Some(self.grace),
                    };
                    obeyed = self.pass_on(order).await.is_ok();
                    if let Some(grace) = grace {
                        deadline = Some(self.latest(self.began.elapsed().saturating_add(grace)));
                    }
                }
                () = self.stdout.step() => {}
                () = self.stderr.step() => {}
                () = until(deadline) => break Err(io::ErrorKind::TimedOut.into()),
            }
        };
        let (how, exit, survivors) = match report {
            Ok(Some(SupervisorReport::Exited { how, exit, survivors })) => (how, exit, survivors),
            _ => self.without_supervisor().await,
        };
        let output = Output { stdout: self.stdout.finish(), stderr: self.stderr.finish() };
        // The receiver is gone if the handle was dropped.
        let _ = tell.send(ChildExit { how, exit, output, took: self.began.elapsed(), survivors });
        // The supervisor has sent its last report. Waiting for it avoids a zombie.
        if timeout(MARGIN, self.supervisor.wait()).await.is_err() {
            let _ = self.supervisor.kill().await;
        }
        drop(self.charge);
    }

    /// The latest time for a report of the supervisor, if it kills after `kills_after`.
    fn latest(&self, kills_after: Duration) -> Instant {
        self.began + kills_after.saturating_add(SWEEP).saturating_add(MARGIN)
    }

    /// A dropped handle means stop.
    async fn pass_on(&mut self, order: Option<SupervisorCommand>) -> io::Result<()> {
        let Some(order) = order else {
            self.link.socket.shutdown().await?;
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        // Lines are short, and the supervisor reads them at once. A supervisor that does not counts as dead.
        timeout(MARGIN, self.link.socket.write_all(&line(&order)?)).await?
    }

    /// The supervisor was killed or hangs. The kernel kills the child with it. This method kills the child's
    /// process group, and the descendants outside of the group, which this process has adopted.
    async fn without_supervisor(&mut self) -> (ExitCause, Option<Exit>, u32) {
        let _ = self.supervisor.kill().await;
        if let Some(group) = Pid::from_raw(self.pid) {
            let _ = rustix::process::kill_process_group(group, Raw::KILL);
        }
        (ExitCause::Lost, None, orphans::end().await)
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}

/// Drains one pipe into a ring buffer.
pub(crate) struct Collector {
    pipe: Option<pipe::Receiver>,
    ring: Ring,
    buffer: Vec<u8>,
}

impl Collector {
    pub(crate) fn new(pipe: Option<pipe::Receiver>, caps: Caps) -> Collector {
        Collector { pipe, ring: Ring::new(caps), buffer: Vec::new() }
    }

    /// Reads once. Without a pipe it never returns. This method is cancel safe.
    async fn step(&mut self) {
        let Some(pipe) = &mut self.pipe else { return std::future::pending().await };
        self.buffer.clear();
        self.buffer.reserve(64 * 1024);
        match pipe.read_buf(&mut self.buffer).await {
            Ok(0) | Err(_) => self.pipe = None,
            Ok(_) => self.ring.push(&self.buffer),
        }
    }

    /// Reads the bytes that ended processes left in the pipe, without waiting for its end.
    fn finish(mut self) -> CapturedOutput {
        if let Some(rest) = self.pipe.take().and_then(|pipe| pipe.into_nonblocking_fd().ok()) {
            self.drain(&rest);
        }
        self.ring.finish()
    }

    fn drain(&mut self, rest: &OwnedFd) {
        let mut taken = 0;
        self.buffer.resize(64 * 1024, 0);
        while taken < LAST_WORDS {
            match rustix::io::read(rest, self.buffer.as_mut_slice()) {
                Err(rustix::io::Errno::INTR) => {}
                Ok(0) | Err(_) => return,
                Ok(count) => {
                    taken += count;
                    self.ring.push(self.buffer.get(..count).unwrap_or_default());
                }
            }
        }
    }
}
