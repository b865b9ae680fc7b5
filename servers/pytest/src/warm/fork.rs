use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use failwell_process::{Captured, Ended, Exit, How, Output, Ring, Signal};
use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{timeout, timeout_at};

use super::worker::Worker;
use crate::run::KEPT;

/// How long output may still come after everything that could write it is gone.
const REST: Duration = Duration::from_secs(1);
/// How long killing may take before the worker is given up.
const KILLING: Duration = Duration::from_secs(5);

/// A run forked from a worker. Dropped, it goes, and everything it started: its overseer sees the socket close.
#[derive(Debug)]
pub(crate) struct Fork {
    hear: tokio::net::unix::OwnedReadHalf,
    say: Mutex<tokio::net::unix::OwnedWriteHalf>,
    heard: Vec<u8>,
    stdout: Stream,
    stderr: Stream,
    how: Option<How>,
    began: Instant,
    /// Until when the rest of the output is waited for.
    rest: Option<Instant>,
    /// It must outlive its forks: what is left of a worker that goes is ended with it.
    worker: Arc<Worker>,
}

#[derive(Deserialize)]
struct Told {
    code: Option<i32>,
    signal: Option<String>,
}

impl Fork {
    pub(crate) fn new(
        worker: Arc<Worker>,
        control: UnixStream,
        stdout: pipe::Receiver,
        stderr: pipe::Receiver,
    ) -> Fork {
        let (hear, say) = control.into_split();
        Fork {
            hear,
            say: Mutex::new(say),
            heard: Vec::new(),
            stdout: Stream::drain(stdout),
            stderr: Stream::drain(stderr),
            how: None,
            began: Instant::now(),
            rest: None,
            worker,
        }
    }

    /// Sends the run a signal. One that has ended takes none, and is waited for just the same.
    pub(crate) async fn signal(&self, signal: Signal) {
        let order = format!("{} ", signal.number());
        let _ = self.say.lock().await.write_all(order.as_bytes()).await;
    }

    /// Waits until the run and everything it started is gone. May be given up and called again.
    pub(crate) async fn wait(&mut self) -> Ended {
        while self.how.is_none() {
            match self.hear.read_buf(&mut self.heard).await {
                Ok(count) if count > 0 => self.how = self.heard.strip_suffix(b"\n").map(how),
                _ => self.how = Some(How::Lost),
            }
        }
        let how = self.how.unwrap_or(How::Lost);
        if how == How::Lost {
            // Without an overseer only the worker's own supervisor can find what the run left behind.
            self.worker.end().await;
        }
        let rest = *self.rest.get_or_insert_with(|| Instant::now() + REST);
        let exit = match how {
            How::Code(code) => Some(Exit::Code(code)),
            How::Signal(signal) => Some(Exit::Signal(signal)),
            _ => None,
        };
        // Nothing is taken before all of it is there: this may be given up at any wait.
        self.stdout.settle(rest).await;
        self.stderr.settle(rest).await;
        let output = Output { stdout: self.stdout.take(), stderr: self.stderr.take() };
        Ended { how, exit, output, took: self.began.elapsed(), survivors: 0 }
    }

    /// Kills the run and everything it started.
    pub(crate) async fn kill(&mut self) -> Ended {
        self.signal(Signal::KILL).await;
        match timeout(KILLING, self.wait()).await {
            Ok(ended) => ended,
            Err(_) => {
                self.how = Some(How::Lost);
                self.wait().await
            }
        }
    }
}

fn how(line: &[u8]) -> How {
    match serde_json::from_slice(line) {
        Ok(Told { code: Some(code), .. }) => How::Code(code),
        Ok(Told { signal: Some(name), .. }) => Signal::parse(&name).map_or(How::Lost, How::Signal),
        _ => How::Lost,
    }
}

/// One stream of output, drained in the background.
#[derive(Debug)]
struct Stream {
    ring: Arc<std::sync::Mutex<Ring>>,
    task: JoinHandle<()>,
}

impl Stream {
    fn drain(mut pipe: pipe::Receiver) -> Stream {
        let ring = Arc::new(std::sync::Mutex::new(Ring::new(KEPT)));
        let filled = ring.clone();
        let task = tokio::spawn(async move {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(count) = pipe.read(&mut buffer).await
                && count > 0
            {
                let mut ring = filled.lock().unwrap_or_else(PoisonError::into_inner);
                ring.push(buffer.get(..count).unwrap_or_default());
            }
        });
        Stream { ring, task }
    }

    /// Waits for the rest, but not for long.
    async fn settle(&mut self, until: Instant) {
        if !self.task.is_finished() {
            let _ = timeout_at(until.into(), &mut self.task).await;
        }
    }

    /// What came, once.
    fn take(&self) -> Captured {
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *ring, Ring::new(KEPT)).finish()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.task.abort();
    }
}
