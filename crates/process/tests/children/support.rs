//! What every test here needs: a launcher, plans for shell scripts, and a look at what is alive.

use std::path::Path;
use std::time::{Duration, Instant};

use failwell_process::{Child, Ended, Environment, Launcher, Plan};

pub(crate) fn launcher() -> Launcher {
    Launcher::at(env!("CARGO_BIN_EXE_failwell-supervise"))
}

/// A plan for a script, with a search path and a time limit that only a broken test reaches.
pub(crate) fn shell(script: &str) -> Plan {
    let mut plan = Plan::new("/bin/sh", "/").arguments(["-c", script]);
    plan.environment = Environment::inherit(&["PATH"]);
    plan.limits.wall = Some(Duration::from_secs(60));
    plan
}

pub(crate) async fn start(plan: Plan) -> Child {
    launcher().start(plan).await.expect("the child starts")
}

pub(crate) async fn run(plan: Plan) -> Ended {
    start(plan).await.wait().await
}

/// Whether a process is there, zombies not counted.
pub(crate) fn is_alive(pid: i32) -> bool {
    let line = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    line.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

/// Waits for something that must come true soon.
pub(crate) async fn soon(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(60), "never came true: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A folder of this test's own, gone with it.
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

/// The number that a script writes to a file, once it has.
pub(crate) async fn number_in(path: &str) -> i32 {
    let read = || std::fs::read_to_string(path).ok().and_then(|text| text.trim().parse::<i32>().ok());
    soon(path, || read().is_some()).await;
    read().expect("a number")
}
