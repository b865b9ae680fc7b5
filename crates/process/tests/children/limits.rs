//! Resource limits, and failures to start.

use std::time::Duration;

use crate::support::{Folder, is_alive, launcher, run, shell};
use failwell_process::{ExitCause, Limit, Plan, Signal};

fn python(script: &str) -> Plan {
    let mut plan = shell("");
    plan.program = "python3".into();
    plan.arguments = ["-c", script].map(Into::into).to_vec();
    plan
}

#[tokio::test]
async fn processes_are_counted_over_the_whole_tree() {
    let folder = Folder::new("many");
    // Half of them run in their own sessions. The loop ends at 150 in case the limit does not work.
    let script = r#"
import os, sys, time
for number in range(150):
    if os.fork() == 0:
        if number % 2:
            os.setsid()
        with open(sys.argv[1], "a") as file:
            file.write(f"{os.getpid()}\n")
        time.sleep(60)
        os._exit(0)
    time.sleep(0.002)
time.sleep(60)
"#;
    let mut plan = python(script).arguments([folder.file("pids")]);
    plan.limits.processes = Some(20);
    let ended = run(plan).await;
    assert_eq!(
        (ended.how, ended.survivors),
        (ExitCause::OverLimit(Limit::Processes), 0),
        "{}",
        ended.output.stderr.text()
    );
    let pids = std::fs::read_to_string(folder.file("pids")).unwrap();
    assert!(pids.lines().count() < 150, "{}", pids.lines().count());
    assert!(pids.lines().all(|pid| !is_alive(pid.parse().unwrap())));
    assert!(ended.took < Duration::from_secs(40), "{:?}", ended.took);
}

#[tokio::test]
async fn as_many_processes_as_allowed_are_left_alone() {
    let mut plan = shell("for i in 1 2 3 4 5; do sleep 0.2 & done; wait; echo done");
    plan.limits.processes = Some(8);
    let ended = run(plan).await;
    assert_eq!((ended.how, ended.output.stdout.text().as_str()), (ExitCause::Code(0), "done\n"));
}

#[tokio::test]
async fn memory_is_limited_for_the_child_alone() {
    let script = "\ntry:\n    x = bytearray(400 << 20)\n    print('had it')\nexcept MemoryError:\n    print('refused')";
    let mut plan = python(script);
    assert_eq!(run(plan.clone()).await.output.stdout.text(), "had it\n");
    plan.limits.memory = Some(200 << 20);
    assert_eq!(run(plan).await.output.stdout.text(), "refused\n");
}

#[tokio::test]
async fn files_are_limited_in_size() {
    let folder = Folder::new("large");
    let mut plan = shell(&format!("head -c 1000000 /dev/zero > {}", folder.file("file")));
    plan.limits.file_size = Some(65536);
    let ended = run(plan).await;
    assert_ne!(ended.how, ExitCause::Code(0));
    assert_eq!(std::fs::metadata(folder.file("file")).unwrap().len(), 65536);
}

#[tokio::test]
async fn time_on_the_processor_is_limited() {
    let mut plan = shell("while :; do :; done");
    plan.limits.cpu = Some(Duration::from_millis(100));
    assert_eq!(run(plan).await.how, ExitCause::Signal(Signal::XCPU));
}

#[tokio::test]
async fn open_files_are_limited_and_crashes_leave_no_core() {
    let mut plan = shell("ulimit -n; ulimit -c");
    plan.limits.open_files = Some(64);
    assert_eq!(run(plan).await.output.stdout.text(), "64\n0\n");
}

#[tokio::test]
async fn what_cannot_start_says_so_and_names_nothing_private() {
    let folder = Folder::new("MARK");
    std::fs::write(folder.path().join("plain"), "not a program").unwrap();
    let nul = Plan::new("/bin/sh", "/").arguments(["a\0MARK"]);
    let mut large = Plan::new("/bin/sh", "/");
    // Twice the kernel's limit for one variable.
    large.environment = large.environment.with("MARK", "x".repeat(256 << 10));
    for (plan, detail) in [
        (Plan::new(folder.file("missing"), "/"), "the program was not found"),
        (Plan::new("no-such-program-MARK", "/"), "the program was not found"),
        (Plan::new(folder.file("plain"), "/"), "the program may not be used"),
        (Plan::new(folder.path(), "/"), "the program may not be used"),
        (Plan::new("/bin/sh", folder.file("missing")), "its folder was not found"),
        (Plan::new("/bin/sh", folder.file("plain")), "its folder is not a folder"),
        (nul, "the program was given a value the system does not take"),
        (large, "the program was given too many arguments or variables"),
    ] {
        let fault = launcher().start(plan).await.unwrap_err();
        assert_eq!(fault.reason().id, "process/SPAWN");
        assert_eq!(fault.detail(), format!("a program could not be started: {detail}"));
        let public = format!("{fault} {fault:?} {} {:?}", fault.hint(), fault.facts());
        assert!(!public.contains("MARK"), "{public}");
    }
}

#[tokio::test]
async fn a_supervisor_that_is_none_is_a_fault_as_well() {
    for path in ["/no/such/supervisor", "/bin/true", "/bin/cat", "/etc/passwd"] {
        let fault =
            failwell_process::Launcher::at(path).start(Plan::new("/bin/true", "/")).await.unwrap_err();
        assert_eq!(fault.reason().id, "process/SPAWN", "{path}");
        assert!(fault.detail().contains("the supervisor"), "{path}: {}", fault.detail());
    }
}
