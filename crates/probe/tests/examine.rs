//! The whole examination against servers that are known to be good and bad.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what these functions share is still a test"
)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use failwell_probe::{Category, Options, ProbeError, Progress, Report, Revision, Target, Verdict, examine};

const FIXTURE: &str = env!("CARGO_BIN_EXE_probe-fixture");

fn command(mode: &str) -> Target {
    Target::Command { program: FIXTURE.to_owned(), args: vec![mode.to_owned()], cwd: None, env: Vec::new() }
}

fn options() -> Options {
    Options { timeout_per_check: Duration::from_secs(3), ..Options::default() }
}

async fn report(target: Target, options: Options) -> Report {
    let mut seen = 0;
    let count = |step: Progress<'_>| {
        if let Progress::Checked { done, .. } = step {
            seen = done;
        }
    };
    let report = examine(target, options, count).await.unwrap();
    assert!(seen > 0 && report.complete);
    report
}

fn faults(report: &Report) -> Vec<String> {
    let faulty = |verdict: &Verdict| matches!(verdict, Verdict::Broken { .. } | Verdict::Short { .. });
    let checks = report.checks.iter().filter(|check| faulty(&check.verdict));
    checks.map(|check| format!("{}: {:?} got {:?}", check.id, check.verdict, check.got)).collect()
}

fn is_broken(report: &Report, id: &str) -> bool {
    let check = report.checks.iter().find(|check| check.id == id).unwrap_or_else(|| panic!("no check {id}"));
    matches!(check.verdict, Verdict::Broken { .. })
}

/// A server that is stopped when the test ends.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn a_good_server_scores_a_hundred_over_stdio() {
    let report = report(command("good"), options()).await;
    assert_eq!(faults(&report), Vec::<String>::new());
    assert_eq!(report.score, 100);
    assert_eq!(report.revisions.last(), Some(&Revision::November2025));
    assert_eq!((report.revisions.len(), report.tool.as_deref()), (3, Some("echo")));
    assert!(report.tally.held > 80, "{:?}", report.tally);
}

/// Starts a server of the fixture on a port of its own.
fn listen(mode: &str) -> (Server, Target) {
    let mut child = Command::new(FIXTURE).arg(mode).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (Server(child), Target::Url(format!("http://{}/mcp", line.trim()), Vec::new()))
}

#[tokio::test]
async fn a_good_server_scores_a_hundred_over_http() {
    let (_server, target) = listen("http");
    let report = report(target, options()).await;
    assert_eq!(faults(&report), Vec::<String>::new());
    assert_eq!(report.score, 100);
    assert_eq!(report.revisions.last(), Some(&Revision::July2026));
    assert!(report.tally.held > 150, "{:?}", report.tally);
}

#[tokio::test]
async fn a_bad_server_is_found_out_and_the_examination_goes_on() {
    let only = "lifecycle,json.,method,notification,arguments,stdio,leak,id.echo-zero";
    let options = Options { only: Some(only.to_owned()), secret: Some("0123abcd".to_owned()), ..options() };
    let report = report(command("bad"), options).await;
    for id in [
        "json.truncated",
        "json.unknown-members",
        "lifecycle.unsupported-version",
        "method.unknown",
        "method.empty",
        "notification.unknown",
        "arguments.wrong-type",
        "arguments.missing",
        "stdio.exit",
        "stdio.purity",
        "leak.path",
        "leak.stack-trace",
        "leak.environment",
        "leak.secret-in-logs",
    ] {
        assert!(is_broken(&report, id), "{id} held: {:?}", report.checks.iter().find(|check| check.id == id));
    }
    let death = report.checks.iter().find(|check| check.id == "method.unknown").unwrap();
    assert!(death.verdict.why().unwrap().contains("exit status: 3"), "{death:?}");
    assert!(!is_broken(&report, "id.echo-zero") && report.score < 50, "{}", report.score);
    let categories: Vec<Category> = report.leaks.iter().map(|leak| leak.category).collect();
    assert!(categories.contains(&Category::Environment) && categories.contains(&Category::Path));
    let text = report.table(100, false);
    assert!(
        text.contains("✗ method.unknown") && text.contains("Traceback (most recent call last)"),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 100));
}

#[tokio::test]
async fn what_cannot_begin_says_why() {
    let missing =
        Target::Command { program: "/no/such/program".into(), args: vec![], cwd: None, env: vec![] };
    assert!(matches!(examine(missing, options(), |_| ()).await, Err(ProbeError::Spawn { .. })));
    let secure = Target::Url("https://127.0.0.1/mcp".to_owned(), Vec::new());
    assert!(matches!(examine(secure, options(), |_| ()).await, Err(ProbeError::Address { .. })));
    let unreachable = Target::Url("http://127.0.0.1:1/mcp".to_owned(), Vec::new());
    let error = examine(unreachable, options(), |_| ()).await.unwrap_err();
    assert!(error.to_string().contains("help:") && matches!(error, ProbeError::NotMcp { .. }), "{error}");
    let quits = Target::Command { program: "true".into(), args: vec![], cwd: None, env: vec![] };
    assert!(matches!(examine(quits, options(), |_| ()).await, Err(ProbeError::NotMcp { .. })));
}

#[tokio::test]
async fn a_server_that_never_comes_back_holds_nothing_more() {
    let (_server, target) = listen("fragile");
    let report = report(target, Options { only: Some("method".to_owned()), ..options() }).await;
    let whys: Vec<&str> = report.checks.iter().filter_map(|check| check.verdict.why()).collect();
    assert!(!report.checks[0].survived && whys[0].contains("no longer answers"), "{whys:?}");
    assert!(whys[1].contains("cannot be reached any more"), "{whys:?}");
    assert!(whys[2].contains("gone since method.empty"), "{whys:?}");
    assert_eq!(report.worst().unwrap().id, "method.unknown");
}

#[tokio::test]
async fn a_locked_server_is_not_judged() {
    let (_server, target) = listen("locked");
    let error = examine(target, options(), |_| ()).await.unwrap_err();
    assert!(matches!(error, ProbeError::Unauthorized { status: 401 }), "{error}");
}

#[tokio::test]
async fn what_was_not_reached_in_time_does_not_count() {
    let options = Options { max_total_time: Duration::ZERO, only: Some("method".to_owned()), ..options() };
    let report = examine(command("good"), options, |_| ()).await.unwrap();
    assert!(!report.complete);
    assert_eq!((report.tally.counted(), report.tally.not_applicable), (0, report.checks.len()));
    assert!(report.table(80, false).contains("out of time"));
}
