//! Stops the program while calls run.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_suite::client::wire::{Wire, request};
use failwell_suite::program::{Folder, Program};
use futures_util::future::join_all;
use rustix::process::Signal;
use serde_json::json;

use crate::SETTLING;
use crate::caller::{Caller, REVISIONS};
use crate::calls::{Call, answer_of_any_status};
use crate::processes::Processes;
use crate::upstreams::Upstreams;
use crate::verdict::Verdict;

/// The grace period, in seconds.
const DRAIN: &str = "2";
/// The time limit of a call after the signal.
const LONGEST: Duration = Duration::from_secs(10);
/// Concurrent calls per caller.
const LANES: usize = 25;
/// One in this many calls is quick; the others hang.
const ONE_QUICK_IN: usize = 5;

/// Each call gets one response whose reason does not blame the upstream, and a line in the journal.
pub(crate) async fn under_load(mark: &str, verdict: &Arc<Verdict>) {
    let upstreams = Upstreams::start().await;
    let config = upstreams.config(mark).replace("timeout_s = 3\n", "timeout_s = 60\n");
    let arguments = ["up", "--listen", "127.0.0.1:0", "--drain", DRAIN];
    let mut program = Program::start(&arguments, Folder::create(), &config);
    let address = program.address().await.expect("the program comes up");
    let mut calls = Vec::new();
    for (n, revision) in REVISIONS.into_iter().enumerate() {
        let caller = Arc::new(Caller::open(address, revision, format!("end{n}")).await);
        for lane in 0..LANES {
            calls.push(tokio::spawn(call(caller.clone(), lane, verdict.clone())));
        }
    }
    until_the_rest_hangs(address, verdict).await;
    let descendants = Processes::below(program.pid().expect("it runs"));
    let began = Instant::now();
    program.signal(Signal::TERM);
    for ended in join_all(calls).await {
        verdict.check(ended.is_ok(), || "a call has no whole answer".to_owned());
    }
    verdict.check(began.elapsed() < LONGEST, || format!("the last answer took {:?}", began.elapsed()));
    let ended = program.ended().await;
    verdict.check(ended.success(), || format!("it ended with {ended}"));
    verdict.no_process_left(mark, &descendants, SETTLING).await;
    let refused = verdict.counted("at shutdown: server/SHUTDOWN");
    let lines = program.journal().lines().filter(|line| line.contains("server/SHUTDOWN")).count();
    verdict.check(lines == refused, || format!("{lines} lines in the journal for {refused} calls"));
}

/// Waits until the quick calls are answered and the others run.
async fn until_the_rest_hangs(address: SocketAddr, verdict: &Verdict) {
    let quick = LANES.div_ceil(ONE_QUICK_IN) * REVISIONS.len();
    let rest = LANES * REVISIONS.len() - quick;
    let end = Instant::now() + SETTLING;
    while verdict.counted("at shutdown: answered") < quick || in_flight(address).await < rest {
        if Instant::now() > end {
            verdict.check(false, || "the calls do not get under way".to_owned());
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The number of running requests, from the metrics.
async fn in_flight(address: SocketAddr) -> usize {
    let mut wire = Wire::connect(address).await;
    wire.write(&request("GET", "/metrics", &address.to_string(), &[], b"")).await;
    let text = String::from_utf8_lossy(&wire.response().await.body).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("failwell_requests_in_flight "));
    line.and_then(|number| number.parse().ok()).unwrap_or(0)
}

async fn call(caller: Arc<Caller>, lane: usize, verdict: Arc<Verdict>) {
    let (tool, reason) =
        if lane.is_multiple_of(ONE_QUICK_IN) { ("echo", None) } else { ("hang", Some("server/SHUTDOWN")) };
    let upstream = if lane.is_multiple_of(2) { "one" } else { "two" };
    let (call, id) = (Call { upstream, tool, arguments: json!({}) }, caller.id());
    let response = caller.post(&mut None, call.message(&caller, &id).as_bytes()).await;
    let Some(seen) = answer_of_any_status(&response, &id, &verdict) else { return };
    let found = seen.fault().is_some().then(|| seen.reason().to_owned());
    verdict.check(found.as_deref() == reason, || format!("{tool} at shutdown: {}", seen.text));
    verdict.count(format!("at shutdown: {}", found.as_deref().unwrap_or("answered")));
}
