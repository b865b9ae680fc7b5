//! The task behind a [`Child`](crate::Child): drains, passes orders on, waits for the end, and reaps the supervisor. It outlives the
//! handle, so that a dropped child is seen to its end as well.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal as Raw};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep_until, timeout};

use crate::launcher::Link;
use crate::letters::{Order, Report, line};
use crate::orphans::{self, Charge};
use crate::ring::Ring;
use crate::supervisor::SWEEP;
use crate::{Caps, Captured, Ended, Exit, How, Output};

/// Orders that may wait.
const ORDERS: usize = 16;

/// What a supervisor gets on top of every time it was promised before it is taken for dead.
const MARGIN: Duration = Duration::from_secs(5);

/// The most that is read of a pipe after the end of everybody who wrote to it.
const LAST_WORDS: usize = 16 * 1024 * 1024;

pub(crate) struct Driver {
    pub(crate) supervisor: tokio::process::Child,
    pub(crate) charge: Charge,
    pub(crate) link: Link,
    pub(crate) pid: i32,
    pub(crate) began: Instant,
    /// Time until the supervisor itself has begun to kill, if there is such a time.
    pub(crate) patience: Option<Duration>,
    pub(crate) grace: Duration,
    pub(crate) stdout: Collector,
    pub(crate) stderr: Collector,
}

/// Starts the task.
pub(crate) fn run(driver: Driver) -> (mpsc::Sender<Order>, oneshot::Receiver<Ended>) {
    let (orders, incoming) = mpsc::channel(ORDERS);
    let (tell, ended) = oneshot::channel();
    tokio::spawn(async move {
        driver.drive(incoming, tell).await;
    });
    (orders, ended)
}

impl Driver {
    async fn drive(mut self, mut orders: mpsc::Receiver<Order>, tell: oneshot::Sender<Ended>) {
        let mut deadline = self.patience.map(|patience| self.latest(patience));
        let mut obeyed = true;
        let report = loop {
            tokio::select! {
                report = self.link.next() => break report,
                order = orders.recv(), if obeyed => {
                    let grace = match &order {
                        Some(Order::Signal(_)) => None,
                        Some(Order::Stop(grace)) => Some(*grace),
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
            Ok(Some(Report::Ended { how, exit, survivors })) => (how, exit, survivors),
            _ => self.without_supervisor().await,
        };
        let output = Output { stdout: self.stdout.finish(), stderr: self.stderr.finish() };
        // Nobody listens when the handle was dropped.
        let _ = tell.send(Ended { how, exit, output, took: self.began.elapsed(), survivors });
        // It has said its last word; this is about leaving no zombie.
        if timeout(MARGIN, self.supervisor.wait()).await.is_err() {
            let _ = self.supervisor.kill().await;
        }
        drop(self.charge);
    }

    /// When the supervisor must have reported, if it kills after this long.
    fn latest(&self, kills_after: Duration) -> Instant {
        self.began + kills_after.saturating_add(SWEEP).saturating_add(MARGIN)
    }

    /// Nobody left to give orders is the order to end.
    async fn pass_on(&mut self, order: Option<Order>) -> io::Result<()> {
        let Some(order) = order else {
            self.link.socket.shutdown().await?;
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        // Lines are short and the supervisor reads them at once; if it does not, it is as good as dead.
        timeout(MARGIN, self.link.socket.write_all(&line(&order)?)).await?
    }

    /// The supervisor was killed or hangs. The child dies with it by itself; its group is for us to end, and so is
    /// whoever left the group: with the supervisor gone, they are ours.
    async fn without_supervisor(&mut self) -> (How, Option<Exit>, u32) {
        let _ = self.supervisor.kill().await;
        if let Some(group) = Pid::from_raw(self.pid) {
            let _ = rustix::process::kill_process_group(group, Raw::KILL);
        }
        (How::Lost, None, orphans::end().await)
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}

/// Drains one pipe into a ring.
pub(crate) struct Collector {
    pipe: Option<pipe::Receiver>,
    ring: Ring,
    buffer: Vec<u8>,
}

impl Collector {
    pub(crate) fn new(pipe: Option<pipe::Receiver>, caps: Caps) -> Collector {
        Collector { pipe, ring: Ring::new(caps), buffer: Vec::new() }
    }

    /// Reads once; never returns when there is nothing left to read. May be given up and called again.
    async fn step(&mut self) {
        let Some(pipe) = &mut self.pipe else { return std::future::pending().await };
        self.buffer.clear();
        self.buffer.reserve(64 * 1024);
        match pipe.read_buf(&mut self.buffer).await {
            Ok(0) | Err(_) => self.pipe = None,
            Ok(_) => self.ring.push(&self.buffer),
        }
    }

    /// Takes what the dead left in the pipe, without waiting for its end.
    fn finish(mut self) -> Captured {
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
