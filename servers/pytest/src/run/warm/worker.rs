use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use failwell_process::{Child, EventReader, Launcher, Limits};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use serde::Deserialize;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::unix::pipe;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::fork::Fork;
use crate::run::{RunRequest, limits};

/// Maximum time for the import of pytest and its plugins.
const START: Duration = Duration::from_secs(60);
/// Timeout of a fork.
const FORK: Duration = Duration::from_secs(5);
/// Standard output, standard error, events, control.
const DESCRIPTORS: usize = 4;
/// Maximum length of a worker's reply.
const LONGEST: usize = 4096;

/// A process that has imported pytest and forks on demand. Dropping it ends it and all of its forks.
#[derive(Debug)]
pub(crate) struct Worker {
    link: Mutex<UnixStream>,
    child: Mutex<Child>,
}

#[derive(Deserialize)]
struct WorkerReply {
    #[serde(default)]
    ready: bool,
    #[serde(default)]
    forked: bool,
}

impl Worker {
    /// Starts a worker. `None` if it does not start or is unfit.
    pub(crate) async fn start(launcher: &Launcher, folder: &Path, spec: &RunRequest) -> Option<Worker> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let path = folder.join(format!("worker-{}.sock", COUNT.fetch_add(1, Ordering::Relaxed)));
        let listener = UnixListener::bind(&path).ok()?;
        let mut plan = spec.plan("serve").arguments([path.as_os_str(), spec.project.root().as_os_str()]);
        plan.limits = Limits { wall: None, ..limits(Duration::ZERO) };
        let mut child = launcher.start(plan).await.ok()?;
        let accepted = tokio::select! {
            accepted = timeout(START, listener.accept()) => accepted.ok()?.ok(),
            _ = child.wait() => None,
        };
        let _ = std::fs::remove_file(&path);
        let (mut link, _) = accepted?;
        let answer = timeout(START, hear(&mut link)).await.ok()??;
        answer.ready.then(|| Worker { link: Mutex::new(link), child: Mutex::new(child) })
    }

    /// Ends the worker and all of its forks, and waits for their end. This method is cancel safe.
    pub(crate) async fn end(&self) {
        self.child.lock().await.stop(Duration::ZERO).await;
    }

    /// Forks for a run. `None` if the worker has ended or is no longer fit.
    pub(crate) async fn fork(self: &Arc<Worker>, spec: &RunRequest) -> Option<(Fork, EventReader)> {
        let request = json!({"settings": spec.settings, "arguments": spec.arguments}).to_string();
        let worker = self.clone();
        // The exchange runs in its own task. A caller that cancels must not leave the worker's reply to the
        // next one.
        let forking = async move {
            let mut link = worker.link.lock().await;
            timeout(FORK, fork(&mut link, &request, &worker)).await.ok()?
        };
        tokio::spawn(forking).await.ok()?
    }
}

async fn fork(link: &mut UnixStream, request: &str, worker: &Arc<Worker>) -> Option<(Fork, EventReader)> {
    let (stdout, their_stdout) = incoming().ok()?;
    let (stderr, their_stderr) = incoming().ok()?;
    let (events, their_events) = incoming().ok()?;
    let (control, their_control) = std::os::unix::net::UnixStream::pair().ok()?;
    control.set_nonblocking(true).ok()?;
    let size = u32::try_from(request.len()).ok()?;
    let theirs = [their_stdout, their_stderr, their_events, OwnedFd::from(their_control)];
    let borrowed: Vec<BorrowedFd<'_>> = theirs.iter().map(AsFd::as_fd).collect();
    link.async_io(Interest::WRITABLE, || send(link, size, &borrowed)).await.ok()?;
    drop(borrowed);
    drop(theirs);
    link.write_all(request.as_bytes()).await.ok()?;
    let answer = hear(link).await?;
    let fork = Fork::new(worker.clone(), UnixStream::from_std(control).ok()?, stdout, stderr);
    answer.forked.then_some((fork, events))
}

fn incoming() -> io::Result<(pipe::Receiver, OwnedFd)> {
    let (read, write) = io::pipe()?;
    Ok((pipe::Receiver::from_owned_fd(read.into())?, write.into()))
}

fn send(link: &UnixStream, size: u32, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("too many descriptors"));
    }
    let size = size.to_be_bytes();
    rustix::net::sendmsg(link, &[IoSlice::new(&size)], &mut ancillary, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Reads one line from the worker.
async fn hear(link: &mut UnixStream) -> Option<WorkerReply> {
    let mut line = Vec::with_capacity(LONGEST);
    while line.last() != Some(&b'\n') {
        if line.len() >= LONGEST || link.read_buf(&mut line).await.ok()? == 0 {
            return None;
        }
    }
    serde_json::from_slice(&line).ok()
}
