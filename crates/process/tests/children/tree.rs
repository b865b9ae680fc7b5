//! No descendant outlives its child.

use std::time::{Duration, Instant};

use crate::support::{Folder, is_alive, launcher, number_in, run, shell, soon, start};
use failwell_process::{Exit, ExitCause, Input, Signal};

/// A textbook daemon: fork, setsid, fork again, exit of the middle process.
const DAEMON: &str = r#"
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        if len(sys.argv) > 2:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with open(sys.argv[1] + ".new", "w") as file:
            file.write(str(os.getpid()))
        os.rename(sys.argv[1] + ".new", sys.argv[1])
        time.sleep(300)
    os._exit(0)
os.wait()
while not os.path.exists(sys.argv[1]):
    time.sleep(0.005)
"#;

fn daemon(folder: &Folder, more: &str, after: &str) -> String {
    std::fs::write(folder.path().join("daemon.py"), DAEMON).unwrap();
    format!("python3 {} {} {more}; {after}", folder.file("daemon.py"), folder.file("pid"))
}

#[tokio::test]
async fn processes_that_outlive_the_child_are_ended() {
    for (name, script) in [
        ("grandchild", "sleep 300 & echo $! > PID; exit 3"),
        ("session", "setsid sleep 300 & echo $! > PID; exit 3"),
        (
            "deaf",
            "sh -c 'trap \"\" TERM; echo $$ > PID; while :; do sleep 1; done' & while ! [ -s PID ]; do sleep 0.01; done; exit 3",
        ),
        ("stopped", "sleep 300 & echo $! > PID; kill -STOP $!; exit 3"),
    ] {
        let folder = Folder::new(name);
        let mut plan = shell(&script.replace("PID", &folder.file("pid")));
        plan.grace = Duration::from_millis(200);
        let ended = run(plan).await;
        assert_eq!((ended.how, ended.survivors), (ExitCause::Code(3), 0), "{name}");
        assert!(!is_alive(number_in(&folder.file("pid")).await), "{name}");
        assert!(ended.took < Duration::from_secs(40), "{name} took {:?}", ended.took);
    }
}

#[tokio::test]
async fn daemons_are_found_and_ended() {
    for (name, more) in [("daemon", ""), ("deaf-daemon", "deaf")] {
        let folder = Folder::new(name);
        let mut plan = shell(&daemon(&folder, more, "exit 0"));
        plan.grace = Duration::from_millis(300);
        let ended = run(plan).await;
        assert_eq!(
            (ended.how, ended.survivors),
            (ExitCause::Code(0), 0),
            "{name}: {}",
            ended.output.stderr.text()
        );
        assert!(!is_alive(number_in(&folder.file("pid")).await), "{name}");
    }
}

#[tokio::test]
async fn a_pipe_held_open_does_not_delay_the_end() {
    let folder = Folder::new("holder");
    let script = format!("echo before; while ! [ -e {} ]; do sleep 0.01; done", folder.file("go"));
    let mut child = start(shell(&script)).await;
    // This process holds the child's output open. The supervisor cannot end it.
    let path = format!("/proc/{}/fd/1", child.pid());
    let holder = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    std::fs::write(folder.file("go"), "").unwrap();
    let ended = child.wait().await;
    assert_eq!(ended.how, ExitCause::Code(0));
    assert_eq!(ended.output.stdout.text(), "before\n");
    assert!(ended.took < Duration::from_secs(40), "{:?}", ended.took);
    drop(holder);
}

#[tokio::test]
async fn time_is_up_for_the_deaf_as_well() {
    for (script, exit) in [
        ("sleep 300", Exit::Signal(Signal::TERM)),
        ("trap '' TERM; while :; do sleep 0.05; done", Exit::Signal(Signal::KILL)),
        ("trap 'exit 9' TERM; while :; do sleep 0.02; done", Exit::Code(9)),
    ] {
        let mut plan = shell(&format!("echo some; {script}"));
        // Enough time for a shell on a busy machine to print a line and to handle SIGTERM.
        let wall = Duration::from_secs(2);
        plan.limits.wall = Some(wall);
        plan.grace = Duration::from_secs(2);
        let ended = run(plan).await;
        assert_eq!((ended.how, ended.exit), (ExitCause::TimedOut, Some(exit)), "{script}");
        assert_eq!(ended.output.stdout.text(), "some\n");
        assert!(ended.took >= wall && ended.took < Duration::from_secs(40), "{:?}", ended.took);
    }
}

#[tokio::test]
async fn a_dropped_child_is_gone_with_all_it_started() {
    let folder = Folder::new("dropped");
    let script = daemon(&folder, "", &format!("echo $$ > {}; sleep 300", folder.file("own")));
    let child = start(shell(&script)).await;
    let (own, away) = (number_in(&folder.file("own")).await, number_in(&folder.file("pid")).await);
    assert_eq!(u32::try_from(own).unwrap(), child.pid());
    assert!(is_alive(own) && is_alive(away));
    drop(child);
    soon("both are gone", || !is_alive(own) && !is_alive(away)).await;
}

/// The runtime that would drive the child is dropped at once. The supervisor cleans up on its own.
#[test]
fn a_dropped_runtime_leaves_no_process_behind() {
    let folder = Folder::new("runtime");
    let script = daemon(&folder, "", "sleep 300");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (child, away) = runtime.block_on(async {
        let child = start(shell(&script)).await;
        (child, number_in(&folder.file("pid")).await)
    });
    drop(runtime);
    drop(child);
    let began = Instant::now();
    while is_alive(away) {
        assert!(began.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub(crate) fn parent_of(pid: u32) -> i32 {
    let line = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    line.rsplit_once(')').unwrap().1.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_killed_supervisor_takes_the_child_with_it() {
    let folder = Folder::new("killed");
    let mut child = start(shell(&format!("sleep 300 & echo $! > {}; wait", folder.file("pid")))).await;
    let below = number_in(&folder.file("pid")).await;
    let supervisor = rustix::process::Pid::from_raw(parent_of(child.pid())).unwrap();
    rustix::process::kill_process(supervisor, rustix::process::Signal::KILL).unwrap();
    let ended = child.wait().await;
    assert_eq!(ended.how, ExitCause::Lost);
    let own = i32::try_from(child.pid()).unwrap();
    soon("both are gone", || !is_alive(own) && !is_alive(below)).await;
}

/// After its supervisor was killed, this process ends all descendants, including a daemon in its own session.
#[tokio::test]
async fn a_killed_supervisor_leaves_no_daemon_behind() {
    let folder = Folder::new("orphaned");
    let mut child = start(shell(&daemon(&folder, "deaf", "sleep 300"))).await;
    let away = number_in(&folder.file("pid")).await;
    let mut bystander = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let supervisor = rustix::process::Pid::from_raw(parent_of(child.pid())).unwrap();
    rustix::process::kill_process(supervisor, rustix::process::Signal::KILL).unwrap();
    let ended = child.wait().await;
    let spared = bystander.try_wait().unwrap().is_none();
    bystander.kill().unwrap();
    bystander.wait().unwrap();
    assert_eq!((ended.how, ended.survivors), (ExitCause::Lost, 0));
    assert!(!is_alive(away), "the daemon is alive");
    assert!(spared, "a child that is no orphan was ended");
}

#[tokio::test]
async fn a_stop_may_be_hurried() {
    let folder = Folder::new("hurried");
    let script = format!("trap '' TERM; echo $$ > {}; while :; do sleep 0.05; done", folder.file("pid"));
    let mut child = start(shell(&script)).await;
    number_in(&folder.file("pid")).await;
    let began = Instant::now();
    let first = tokio::time::timeout(Duration::from_millis(200), child.stop(Duration::from_secs(50))).await;
    assert!(first.is_err());
    assert_eq!(child.stop(Duration::ZERO).await.how, ExitCause::Stopped);
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
}

/// Parent, group, session and terminal of a child from `/proc`, its own pid and its supervisor's pid.
async fn belongings() -> ([i32; 4], i32, i32) {
    // The child runs until its input ends, so that its parent can be looked up.
    let mut plan = shell("cat /proc/$$/stat; cat");
    plan.input = Input::Pipe;
    let mut child = start(plan).await;
    let (own, supervisor) = (i32::try_from(child.pid()).unwrap(), parent_of(child.pid()));
    drop(child.take_input());
    let line = child.wait().await.output.stdout.text();
    let fields: Vec<&str> = line.rsplit_once(')').unwrap().1.split_whitespace().collect();
    ([1, 2, 3, 4].map(|field| fields[field].parse::<i32>().unwrap()), own, supervisor)
}

#[tokio::test]
async fn a_child_has_its_own_group_in_its_supervisors_session() {
    let ([parent, group, session, _], own, supervisor) = belongings().await;
    assert_eq!((parent, group, session), (supervisor, own, supervisor));
}

/// A child must not be able to ask for a password at the terminal. The test runs itself again at a pty.
#[tokio::test]
async fn a_child_has_no_terminal() {
    let Some(_) = std::env::var_os("FAILWELL_TEST_ALONE") else {
        let at_a_terminal =
            "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
        let status = tokio::process::Command::new("python3")
            .args(["-c", at_a_terminal])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "tree::a_child_has_no_terminal"])
            .env("FAILWELL_TEST_ALONE", "1")
            .stdin(std::process::Stdio::null())
            .status()
            .await
            .unwrap();
        assert!(status.success());
        return;
    };
    assert!(std::fs::File::open("/dev/tty").is_ok(), "this test has no terminal itself");
    let ([.., terminal], ..) = belongings().await;
    assert_eq!(terminal, 0);
}

/// Runs in a separate process, because it counts that process's descriptors and children.
#[tokio::test]
async fn two_hundred_runs_leave_nothing_behind() {
    let Some(_) = std::env::var_os("FAILWELL_TEST_ALONE") else {
        let status = tokio::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tree::two_hundred_runs_leave_nothing_behind"])
            .env("FAILWELL_TEST_ALONE", "1")
            .status()
            .await
            .unwrap();
        assert!(status.success());
        return;
    };
    let launcher = launcher();
    let once = |script: &'static str| {
        let launcher = launcher.clone();
        async move { launcher.start(shell(script)).await.unwrap().wait().await }
    };
    once("true").await;
    let before = descriptors();
    for round in 0..200 {
        match round % 4 {
            0 => assert_eq!(once("echo x; exit 1").await.how, ExitCause::Code(1)),
            1 => assert_eq!(once("sleep 300 & exit 0").await.how, ExitCause::Code(0)),
            2 => drop(launcher.start(shell("sleep 300")).await.unwrap()),
            _ => assert!(launcher.start(failwell_process::Plan::new("/no/such/program", "/")).await.is_err()),
        }
    }
    soon("no descriptor is left", || descriptors() <= before).await;
    soon("no child is left", || children().is_empty()).await;
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn children() -> String {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    threads
        .map(|thread| std::fs::read_to_string(thread.unwrap().path().join("children")).unwrap_or_default())
        .collect()
}
