//! The whole examination against servers that are known to be good and bad.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what these functions share is still a test"
)]

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_probe::{
    Category, Detail, Options, ProbeError, Progress, Report, Revision, Target, Verdict, examine,
};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

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
    let text = report.table(100, false, Detail::Proof);
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
    let other = Target::Url("ftp://127.0.0.1/mcp".to_owned(), Vec::new());
    assert!(matches!(examine(other, options(), |_| ()).await, Err(ProbeError::Address { .. })));
    let unreachable = Target::Url("http://127.0.0.1:1/mcp".to_owned(), Vec::new());
    let error = examine(unreachable, options(), |_| ()).await.unwrap_err();
    assert!(error.to_string().contains("help:") && matches!(error, ProbeError::NotMcp { .. }), "{error}");
}

fn shell(script: &str) -> Target {
    let args = vec!["-c".to_owned(), script.to_owned()];
    Target::Command { program: "/bin/sh".into(), args, cwd: None, env: vec![] }
}

#[tokio::test]
async fn a_server_that_ends_at_once_is_quoted() {
    let quits = shell("echo one >&2; echo 'no module named shop' >&2; exit 3");
    let error = examine(quits, options(), |_| ()).await.unwrap_err().to_string();
    assert!(error.starts_with("the server ended before it answered: exit status: 3\n"), "{error}");
    assert!(error.contains("  | one\n  | no module named shop\nhelp: "), "{error}");
}

#[tokio::test]
async fn silence_is_waited_for_once() {
    let options = Options {
        timeout_per_check: Duration::from_secs(1),
        startup_timeout: Duration::from_secs(1),
        ..Options::default()
    };
    let began = Instant::now();
    let mut announced = None;
    let watch = |step: Progress<'_>| {
        if let Progress::Starting { wait } = step {
            announced = Some(wait);
        }
    };
    let error = examine(shell("sleep 60"), options, watch).await.unwrap_err();
    assert!(
        matches!(error, ProbeError::Silent { .. }) && error.to_string().contains("--start-timeout"),
        "{error}"
    );
    assert_eq!(announced, Some(Duration::from_secs(2)));
    // Once for initialize and once for server/discover, not once for each revision.
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[tokio::test]
async fn an_address_without_a_path_is_completed() {
    let (_server, target) = listen("locked");
    let Target::Url(url, _) = target else { panic!("an address") };
    let bare = url.trim_end_matches("/mcp").replace("http://", "http://x");
    let error =
        examine(Target::Url(bare.clone(), Vec::new()), options(), |_| ()).await.unwrap_err().to_string();
    assert!(error.contains(&format!("try {bare}/mcp")), "{error}");
}

/// Accepts TLS in front of a plain server; gives the address and the file with the certificate to trust.
async fn secured(plain: &Target) -> (Target, PathBuf) {
    let Target::Url(url, _) = plain else { panic!("an address") };
    let behind = url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let file = std::env::temp_dir().join(format!("failwell-probe-{}.pem", std::process::id()));
    std::fs::write(&file, made.cert.pem()).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let (acceptor, behind) = (acceptor.clone(), behind.clone());
            tokio::spawn(async move {
                let Ok(mut secure) = acceptor.accept(socket).await else { return };
                let Ok(mut plain) = TcpStream::connect(behind).await else { return };
                let _ = tokio::io::copy_bidirectional(&mut secure, &mut plain).await;
            });
        }
    });
    (Target::Url(format!("https://localhost:{port}/mcp"), Vec::new()), file)
}

#[tokio::test]
async fn https_servers_are_examined() {
    let (_server, plain) = listen("http");
    let (target, file) = secured(&plain).await;
    let untrusted = examine(target.clone(), options(), |_| ()).await.unwrap_err().to_string();
    assert!(untrusted.contains("cannot connect: TLS: ") && untrusted.contains("certificate"), "{untrusted}");
    let only = Some("method,json".to_owned());
    let trusting = Options { authorities: Some(file.clone()), only, ..options() };
    let report = report(target, trusting).await;
    std::fs::remove_file(file).unwrap();
    assert_eq!((faults(&report), report.score), (Vec::new(), 100));
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
    assert!(report.table(80, false, Detail::Checks).contains("out of time"));
}
