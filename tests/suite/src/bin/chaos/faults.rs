//! Load with injected faults.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use failwell_suite::program::send;
use futures_util::future::join_all;
use rustix::process::Signal;
use tokio::time::Instant;

use crate::caller::Caller;
use crate::calls::{Call, make};
use crate::processes::{Processes, marked};
use crate::random::SeededRandom;
use crate::verdict::Verdict;

/// The duration, the load and the program.
pub(crate) struct FaultInjection {
    pub(crate) length: Duration,
    pub(crate) lanes: usize,
    pub(crate) program: i32,
}

impl FaultInjection {
    pub(crate) async fn run(
        &self,
        callers: &[Caller],
        mark: &str,
        chance: &mut SeededRandom,
        verdict: &Verdict,
    ) {
        let end = Instant::now() + self.length;
        let (under_way, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut lanes = Vec::new();
        for caller in callers {
            for _ in 0..self.lanes {
                lanes.push(lane(caller, chance.fork(), end, &under_way, &most, verdict));
            }
        }
        let mut trouble = chance.fork();
        tokio::join!(join_all(lanes), trouble_makers(mark, self.program, &mut trouble, end, verdict));
        let most = most.load(Ordering::Relaxed);
        verdict.figure(format!("load: {most} calls under way at the most"));
        verdict.check(most >= callers.len() * self.lanes * 9 / 10, || format!("only {most} calls at once"));
        for upstream in ["one", "two", "web", "new"] {
            let answered = verdict.counted(&format!("answered by {upstream}"));
            verdict.check(answered > 0, || format!("{upstream} never answered"));
        }
    }
}

/// One call after the other until the end.
async fn lane(
    caller: &Caller,
    mut chance: SeededRandom,
    end: Instant,
    under_way: &AtomicUsize,
    most: &AtomicUsize,
    verdict: &Verdict,
) {
    let mut wire = None;
    while Instant::now() < end {
        let nonce = format!("{}-{}", caller.id(), chance.below(u64::MAX));
        let call = Call::any(&mut chance, &nonce);
        if chance.below(25) == 0 {
            let message = call.message(caller, &caller.id());
            caller.post_and_hang_up(message.as_bytes(), Duration::from_millis(chance.below(300))).await;
            verdict.count("called off".to_owned());
            continue;
        }
        most.fetch_max(under_way.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        make(caller, &mut wire, &call, verdict).await;
        under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

/// First kills all child processes and their supervisors. Then only stops child processes (`SIGSTOP`), so that calls hit
/// their deadlines, and continues them a little later.
async fn trouble_makers(
    mark: &str,
    program: i32,
    chance: &mut SeededRandom,
    end: Instant,
    verdict: &Verdict,
) {
    let turn = Instant::now() + (end - Instant::now()) / 2;
    while Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(100 + chance.below(600))).await;
        let children = marked(mark);
        let killing = Instant::now() < turn;
        let victims = if killing { Processes::below(program).pids() } else { children.clone() };
        let Some(victim) = chance.of(&victims) else { continue };
        let (name, signal) = match (killing, chance.below(3)) {
            (false, _) => ("stopped", Signal::STOP),
            (true, 0) => ("terminated", Signal::TERM),
            (true, _) => ("killed", Signal::KILL),
        };
        send(*victim, signal);
        verdict.count(format!("({name})"));
        if chance.below(5) == 0 {
            children.iter().for_each(|child| send(*child, Signal::CONT));
        }
    }
    marked(mark).iter().for_each(|child| send(*child, Signal::CONT));
}

/// Checks that every upstream answers again. Child processes that a late call still stopped are continued.
pub(crate) async fn recover(callers: &[Caller], mark: &str, patience: Duration, verdict: &Verdict) {
    for upstream in ["one", "two", "web", "new"] {
        for caller in callers {
            let end = Instant::now() + patience;
            let well = loop {
                let call = Call::good(upstream, &caller.id());
                let answered = make(caller, &mut None, &call, verdict).await;
                if answered.is_some_and(|seen| seen.fault().is_none()) {
                    break true;
                }
                if Instant::now() > end {
                    break false;
                }
                marked(mark).iter().for_each(|child| send(*child, Signal::CONT));
                tokio::time::sleep(Duration::from_millis(100)).await;
            };
            verdict.check(well, || format!("{upstream} did not come back"));
        }
    }
}
