//! Every bad response of an HTTP upstream, in both eras on both sides: exactly one fault each.

use std::net::SocketAddr;

use failwell_rpc::Revision;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::calls::{Call, the_answer};
use crate::upstreams::bad_answers;
use crate::verdict::Verdict;

pub(crate) async fn every_bad_answer(address: SocketAddr, verdict: &Verdict) {
    let session = Caller::open(address, Revision::V2025_06_18, "first-session".to_owned()).await;
    let modern = Caller::open(address, Revision::V2026_07_28, "first-modern".to_owned()).await;
    // The first call connects to the upstreams, so it is made before the timed ones.
    for upstream in ["web", "new"] {
        crate::calls::make(&session, &mut None, &Call::good(upstream, "first"), verdict).await;
    }
    let mut asked = Vec::new();
    for caller in [&session, &modern] {
        for upstream in ["web", "new"] {
            for at in 0..bad_answers().len() {
                asked.push(one(caller, upstream, at, verdict));
            }
        }
    }
    join_all(asked).await;
}

async fn one(caller: &Caller, upstream: &'static str, at: usize, verdict: &Verdict) {
    let Some(case) = bad_answers().get(at) else { return };
    let call = Call { upstream, tool: "t", arguments: json!({"bad": case.name}) };
    let id = caller.id();
    let response = caller.post(&mut None, call.message(caller, &id).as_bytes()).await;
    let Some(seen) = the_answer(&response, &id, verdict) else { return };
    let fault = seen.fault().cloned().unwrap_or_default();
    verdict.count(format!("as expected: {}", case.reason));
    verdict.failed_as(seen.reference().to_owned());
    let (retry, after) = case.retry();
    let counts = (
        fault["reason"].as_str(),
        fault["effect"].as_str(),
        fault["retry"].as_str(),
        fault["retry_after_ms"].as_u64(),
    );
    let right = counts == (Some(case.reason), Some(case.effect), Some(retry), after);
    verdict.check(right, || format!("{} of {upstream}: {}", case.name, seen.text));
    let facts = if case.facts == json!({}) { Value::Null } else { case.facts.clone() };
    let timed = case.reason.ends_with("TIMEOUT");
    verdict.check(timed || fault["facts"] == facts, || format!("facts of {}: {}", case.name, seen.text));
}
