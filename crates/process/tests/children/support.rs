//! Shared helpers: a launcher, plans for shell scripts, and a check for running processes.

use std::path::Path;
use std::time::{Duration, Instant};

use failwell_process::{Child, ChildExit, Environment, Launcher, Plan, Stdout};
use tokio::io::{AsyncRead, AsyncReadExt};

pub(crate) fn launcher() -> Launcher {
    Launcher::at(env!("CARGO_BIN_EXE_failwell-supervise"))
}

/// A plan for a shell script, with a `PATH` and a timeout that only a broken test reaches.
pub(crate) fn shell(script: &str) -> Plan {
    let mut plan = Plan::new("/bin/sh", "/").arguments(["-c", script]);
    plan.environment = Environment::inherit(&["PATH"]);
    plan.limits.wall = Some(Duration::from_secs(60));
    plan
}

pub(crate) async fn start(plan: Plan) -> Child {
    launcher().start(plan).await.expect("the child starts")
}

/// Starts a shell script and waits for the line `ready`. Returns the child and the rest of its output.
pub(crate) async fn start_until_ready(script: &str) -> (Child, impl AsyncRead + Unpin) {
    let mut plan = shell(script);
    plan.stdout = Stdout::Piped;
    let mut child = start(plan).await;
    let mut output = child.take_output().expect("its output");
    let mut ready = [0; 6];
    output.read_exact(&mut ready).await.expect("ready");
    (child, output)
}

pub(crate) async fn run(plan: Plan) -> ChildExit {
    start(plan).await.wait().await
}

/// Whether a process exists and is not a zombie.
pub(crate) fn is_alive(pid: i32) -> bool {
    let line = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    line.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

/// Polls until a condition holds.
pub(crate) async fn soon(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(60), "never came true: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A temporary folder, removed on drop.
pub(crate) struct Folder(std::path::PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("failwell-process-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Waits for a script to write a number to a file.
pub(crate) async fn number_in(path: &str) -> i32 {
    let read = || std::fs::read_to_string(path).ok().and_then(|text| text.trim().parse::<i32>().ok());
    soon(path, || read().is_some()).await;
    read().expect("a number")
}
