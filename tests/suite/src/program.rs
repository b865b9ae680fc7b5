//! The program, started as a user starts it.

#![allow(clippy::expect_used, clippy::panic, reason = "a helper of tests may stop at the first surprise")]

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// The time limit of start and shutdown. It is long because the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder that is removed on drop.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// A new and empty one.
    pub fn create() -> Folder {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("failwell-suite-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a folder for the test");
        Folder(path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A running `failwell` whose standard error goes to a file. It is killed on drop.
#[derive(Debug)]
pub struct Program {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    folder: Folder,
}

impl Program {
    /// Starts a command of the program with this configuration. The folder is its working directory, its home and its
    /// `PATH`, so that it finds no programs to examine.
    pub fn start(arguments: &[&str], folder: Folder, config: &str) -> Program {
        fs::write(folder.path().join("failwell.toml"), config).expect("the configuration is written");
        let journal = fs::File::create(folder.path().join("stderr")).expect("a file for the journal");
        let mut child = Command::new(built("failwell"))
            .args(arguments)
            .current_dir(folder.path())
            .env_clear()
            .env("HOME", folder.path())
            .env("PATH", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(journal)
            .kill_on_drop(true)
            .spawn()
            .expect("the program starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("its output")).lines();
        Program { child, input, output, folder }
    }

    /// Waits until `failwell up` prints its address; `None` if it exits instead.
    pub async fn address(&mut self) -> Option<SocketAddr> {
        let started: serde_json::Value = serde_json::from_str(&self.line().await?).expect("a line of JSON");
        let address = started.get("address").and_then(|address| address.as_str()?.strip_prefix("http://"));
        Some(address.expect("an address").parse().expect("an address"))
    }

    /// The next line of its standard output; `None` at its end.
    pub async fn line(&mut self) -> Option<String> {
        let line = tokio::time::timeout(PATIENCE, self.output.next_line()).await;
        line.expect("the program says something in time").expect("readable")
    }

    /// Its standard input and output, for concurrent use.
    pub fn pipes(&mut self) -> (&mut Option<ChildStdin>, &mut Lines<BufReader<ChildStdout>>) {
        (&mut self.input, &mut self.output)
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its process; `None` when it has ended.
    pub fn pid(&self) -> Option<i32> {
        self.child.id().and_then(|id| i32::try_from(id).ok())
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        if let Some(pid) = self.pid() {
            send(pid, signal);
        }
    }

    /// Waits for its end.
    pub async fn ended(&mut self) -> ExitStatus {
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        ended.expect("the program ends in time").expect("it can be waited for")
    }

    /// Ends its input, and waits for the end of it.
    pub async fn hang_up(&mut self) -> ExitStatus {
        drop(self.input.take());
        self.ended().await
    }

    /// Asks it to end, and waits for that.
    pub async fn terminate(&mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.ended().await
    }

    /// Runs another command of the program in the same folder, and returns its output.
    pub fn output(&self, arguments: &[&str]) -> String {
        let output = std::process::Command::new(built("failwell"))
            .args(arguments)
            .current_dir(self.folder())
            .env_clear()
            .env("HOME", self.folder())
            .output()
            .expect("the command runs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Its standard error so far.
    pub fn journal(&self) -> String {
        let bytes = fs::read(self.folder().join("stderr")).expect("the journal is readable");
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Sends a signal to a process, which may be gone already.
pub fn send(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, signal);
    }
}

/// A program of this workspace, built beside the one that runs.
pub fn built(name: &str) -> PathBuf {
    let here = std::env::current_exe().expect("a program knows where it is");
    let folder = here.parent().expect("it is in a folder");
    let folder = if folder.ends_with("deps") { folder.parent().unwrap_or(folder) } else { folder };
    let program = folder.join(name);
    assert!(
        program.exists(),
        "{} is not built: cargo build -p failwell -p failwell-suite",
        program.display()
    );
    program
}
