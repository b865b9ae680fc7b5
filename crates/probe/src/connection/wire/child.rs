//! A child process spoken to over raw pipes: own process group, killed on drop, stderr drained into a ring.

use std::collections::VecDeque;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, Command};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

/// A longer line than this is cut and given as it is.
const LINE_CAP: usize = 32 * 1024 * 1024;
const STDERR_CAP: usize = 16 * 1024;
const LINES_WAITING: usize = 1024;
/// Lines of stderr that are kept of a process that ended.
const STDERR_LINES: usize = 5;

/// How a process ended.
#[derive(Debug)]
pub(crate) struct ProcessEnd {
    pub(crate) status: ExitStatus,
    /// The last lines of stderr, oldest first.
    pub(crate) stderr: Vec<String>,
}

/// A running server and its pipes.
#[derive(Debug)]
pub(crate) struct Child {
    process: tokio::process::Child,
    stdin: Option<ChildStdin>,
    lines: mpsc::Receiver<Vec<u8>>,
    stderr: Arc<Mutex<VecDeque<u8>>>,
}

/// The result of waiting for a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ChildLine {
    Received(Vec<u8>),
    TimedOut,
    Closed,
}

impl Child {
    /// Starts a command with three pipes in a process group of its own.
    pub(crate) fn start(mut command: Command) -> std::io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let mut process = command.spawn()?;
        let stdin = process.stdin.take();
        let (sender, lines) = mpsc::channel(LINES_WAITING);
        if let Some(stdout) = process.stdout.take() {
            tokio::spawn(split_lines(stdout, sender));
        }
        let stderr = Arc::new(Mutex::new(VecDeque::new()));
        if let Some(pipe) = process.stderr.take() {
            tokio::spawn(drain(pipe, Arc::clone(&stderr)));
        }
        Ok(Self { process, stdin, lines, stderr })
    }

    /// Writes bytes as they are; false when the pipe is closed or full for too long.
    pub(crate) async fn write(&mut self, bytes: &[u8], wait: Duration) -> bool {
        let Some(stdin) = &mut self.stdin else { return false };
        let writing = async {
            stdin.write_all(bytes).await?;
            stdin.flush().await
        };
        matches!(timeout(wait, writing).await, Ok(Ok(())))
    }

    /// Writes bytes in small pieces with pauses between.
    pub(crate) async fn dribble(&mut self, bytes: &[u8], wait: Duration) -> bool {
        for piece in bytes.chunks((bytes.len() / 6).max(1)) {
            sleep(Duration::from_millis(60)).await;
            if !self.write(piece, wait).await {
                return false;
            }
        }
        true
    }

    /// The next line of stdout.
    pub(crate) async fn line(&mut self, wait: Duration) -> ChildLine {
        match timeout(wait, self.lines.recv()).await {
            Ok(Some(line)) => ChildLine::Received(line),
            Ok(None) => ChildLine::Closed,
            Err(_) => ChildLine::TimedOut,
        }
    }

    /// Closes stdin, the polite way to end a server.
    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Waits for the process to end by itself.
    pub(crate) async fn exit(&mut self, wait: Duration) -> Option<ExitStatus> {
        timeout(wait, self.process.wait()).await.ok()?.ok()
    }

    /// How the process ended, when it has; the last words of stderr help to say why.
    pub(crate) async fn obituary(&mut self) -> Option<String> {
        let ProcessEnd { status, stderr } = self.end().await?;
        Some(match stderr.last() {
            Some(last) => format!("{status}; stderr ends: {}", last.chars().take(160).collect::<String>()),
            None => status.to_string(),
        })
    }

    /// How the process ended, when it has.
    pub(crate) async fn end(&mut self) -> Option<ProcessEnd> {
        let status = self.exit(Duration::from_millis(200)).await?;
        Some(ProcessEnd { status, stderr: self.last_lines() })
    }

    fn last_lines(&self) -> Vec<String> {
        let bytes: Vec<u8> = self.stderr.lock().iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let mut last: Vec<String> = text
            .lines()
            .rev()
            .filter(|line| !line.trim().is_empty())
            .take(STDERR_LINES)
            .map(str::to_owned)
            .collect();
        last.reverse();
        last
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Launchers such as npx leave grandchildren; the whole group goes.
        #[cfg(unix)]
        if let Some(group) =
            self.process.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw)
        {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

async fn split_lines(mut pipe: impl AsyncRead + Unpin, sender: mpsc::Sender<Vec<u8>>) {
    let mut line = Vec::new();
    let mut buffer = vec![0_u8; 64 * 1024];
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        for piece in buffer.get(..count).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(piece);
            if line.ends_with(b"\n") || line.len() > LINE_CAP {
                while matches!(line.last(), Some(b'\n' | b'\r')) {
                    line.pop();
                }
                if sender.send(std::mem::take(&mut line)).await.is_err() {
                    return;
                }
            }
        }
    }
    if !line.is_empty() {
        let _ = sender.send(line).await;
    }
}

async fn drain(mut pipe: impl AsyncRead + Unpin, ring: Arc<Mutex<VecDeque<u8>>>) {
    let mut buffer = vec![0_u8; 8 * 1024];
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        let mut ring = ring.lock();
        ring.extend(buffer.get(..count).unwrap_or_default());
        while ring.len() > STDERR_CAP {
            ring.pop_front();
        }
    }
}
