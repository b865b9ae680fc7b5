use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_process::{CapturedOutput, ChildExit, Exit, ExitCause, Output, Ring, Signal};
use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{timeout, timeout_at};

use super::worker::Worker;
use crate::run::KEPT;

/// Maximum time for remaining output after all of its writers have ended.
const REST: Duration = Duration::from_secs(1);
/// Maximum time of a kill before the worker is abandoned.
const KILLING: Duration = Duration::from_secs(5);

/// A run forked from a worker. Dropping it closes the socket, and its overseer then ends the run and all of
/// its descendants.
#[derive(Debug)]
pub(crate) struct Fork {
    hear: tokio::net::unix::OwnedReadHalf,
    say: Mutex<tokio::net::unix::OwnedWriteHalf>,
    received: Vec<u8>,
    stdout: Stream,
    stderr: Stream,
    how: Option<ExitCause>,
    began: Instant,
    /// The deadline for the remaining output.
    rest: Option<Instant>,
    /// A worker must outlive its forks, because they end with it.
    worker: Arc<Worker>,
}

#[derive(Deserialize)]
struct ForkExit {
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
            received: Vec::new(),
            stdout: Stream::drain(stdout),
            stderr: Stream::drain(stderr),
            how: None,
            began: Instant::now(),
            rest: None,
            worker,
        }
    }

    /// Sends a signal to the run. An ended run accepts none.
    pub(crate) async fn signal(&self, signal: Signal) {
        let request = format!("{} ", signal.number());
        let _ = self.say.lock().await.write_all(request.as_bytes()).await;
    }

    /// Waits until the run and all of its descendants have ended. This method is cancel safe.
    pub(crate) async fn wait(&mut self) -> ChildExit {
        while self.how.is_none() {
            match self.hear.read_buf(&mut self.received).await {
                Ok(count) if count > 0 => self.how = self.received.strip_suffix(b"\n").map(how),
                _ => self.how = Some(ExitCause::Lost),
            }
        }
        let how = self.how.unwrap_or(ExitCause::Lost);
        if how == ExitCause::Lost {
            // Without an overseer, only the worker's supervisor can find the descendants of the run.
            self.worker.end().await;
        }
        let rest = *self.rest.get_or_insert_with(|| Instant::now() + REST);
        let exit = match how {
            ExitCause::Code(code) => Some(Exit::Code(code)),
            ExitCause::Signal(signal) => Some(Exit::Signal(signal)),
            _ => None,
        };
        // The output is taken only when it is complete, because each wait may be cancelled.
        self.stdout.wait_for_rest(rest).await;
        self.stderr.wait_for_rest(rest).await;
        let output = Output { stdout: self.stdout.take(), stderr: self.stderr.take() };
        ChildExit { how, exit, output, took: self.began.elapsed(), survivors: 0 }
    }

    /// Kills the run and all of its descendants.
    pub(crate) async fn kill(&mut self) -> ChildExit {
        self.signal(Signal::KILL).await;
        match timeout(KILLING, self.wait()).await {
            Ok(ended) => ended,
            Err(_) => {
                self.how = Some(ExitCause::Lost);
                self.wait().await
            }
        }
    }
}

fn how(line: &[u8]) -> ExitCause {
    match serde_json::from_slice(line) {
        Ok(ForkExit { code: Some(code), .. }) => ExitCause::Code(code),
        Ok(ForkExit { signal: Some(name), .. }) => {
            Signal::parse(&name).map_or(ExitCause::Lost, ExitCause::Signal)
        }
        _ => ExitCause::Lost,
    }
}

/// One output stream, drained in the background.
#[derive(Debug)]
struct Stream {
    ring: Arc<parking_lot::Mutex<Ring>>,
    task: JoinHandle<()>,
}

impl Stream {
    fn drain(mut pipe: pipe::Receiver) -> Stream {
        let ring = Arc::new(parking_lot::Mutex::new(Ring::new(KEPT)));
        let filled = ring.clone();
        let task = tokio::spawn(async move {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(count) = pipe.read(&mut buffer).await
                && count > 0
            {
                let mut ring = filled.lock();
                ring.push(buffer.get(..count).unwrap_or_default());
            }
        });
        Stream { ring, task }
    }

    /// Waits for the rest until a deadline.
    async fn wait_for_rest(&mut self, until: Instant) {
        if !self.task.is_finished() {
            let _ = timeout_at(until.into(), &mut self.task).await;
        }
    }

    /// Takes the collected output.
    fn take(&self) -> CapturedOutput {
        let mut ring = self.ring.lock();
        std::mem::replace(&mut *ring, Ring::new(KEPT)).finish()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.task.abort();
    }
}
