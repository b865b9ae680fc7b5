//! One call, and whether its answer is right.

use failwell_rpc::Era;
use failwell_suite::client::received_message::ReceivedMessage;
use failwell_suite::client::requests;
use failwell_suite::client::wire::{Response, Wire};
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::random::SeededRandom;
use crate::upstreams::bad_answers;
use crate::verdict::Verdict;

/// Reasons that any call may fail with while faults are injected.
const WEATHER: [&str; 6] = [
    "gateway/UPSTREAM_CRASHED",
    "gateway/UPSTREAM_DOWN",
    "gateway/UPSTREAM_STARTING",
    "gateway/UPSTREAM_TIMEOUT",
    "gateway/UPSTREAM_GARBLED",
    "gateway/CIRCUIT_OPEN",
];

/// The tools of a child process. A tool that is listed twice is called twice as often.
const TOOLS: &[(&str, usize)] = &[
    ("echo", 400),
    ("late", 140),
    ("nasty", 30),
    ("noise", 30),
    ("null_result", 20),
    ("big", 20),
    ("wrong_id", 15),
    ("both", 15),
    ("neither", 15),
    ("hang", 10),
    ("chatter", 4),
    ("flood", 3),
    ("half_line", 2),
    ("crash", 2),
    ("last_words", 2),
    ("kill", 1),
    ("stop_myself", 1),
];

/// The bytes of a large request, which an echo sends back.
const LARGE: usize = 1_000_000;

/// Which tool is called, and with what.
pub(crate) struct Call {
    pub(crate) upstream: &'static str,
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
}

impl Call {
    /// A call that simply works when its upstream does.
    pub(crate) fn good(upstream: &'static str, nonce: &str) -> Call {
        let tool = if matches!(upstream, "one" | "two") { "echo" } else { "t" };
        Call { upstream, tool, arguments: json!({"nonce": nonce}) }
    }

    /// Any call.
    pub(crate) fn any(chance: &mut SeededRandom, nonce: &str) -> Call {
        let upstream = ["one", "one", "two", "two", "web", "new"][chance.below(6) as usize];
        let mut call = Call::good(upstream, nonce);
        if matches!(upstream, "web" | "new") {
            call.arguments["bad"] = bad_answer(chance);
            return call;
        }
        let all: usize = TOOLS.iter().map(|(_, weight)| weight).sum();
        let mut at = chance.below(all as u64) as usize;
        for (tool, weight) in TOOLS {
            if at < *weight {
                call.tool = tool;
                break;
            }
            at -= weight;
        }
        if call.tool == "echo" && chance.below(50) == 0 {
            call.arguments["body"] = json!("large ".repeat(LARGE / 6));
        }
        call.arguments["ms"] = json!(chance.below(400));
        call.arguments["bytes"] = json!(chance.below(200_000));
        call
    }

    pub(crate) fn message(&self, caller: &Caller, id: &str) -> String {
        let name = format!("{}__{}", self.upstream, self.tool);
        let id = format!("\"{id}\"");
        let text = requests::tool(caller.revision, &id, &name, self.arguments.clone());
        debug_assert!(caller.revision.era() == Era::Modern || !text.contains("_meta"));
        text
    }

    /// The reasons with which this call may fail without injected faults.
    fn reasons(&self) -> Vec<&str> {
        let bad = self.arguments["bad"].as_str();
        let of_case = bad_answers().iter().find(|case| Some(case.name) == bad).map(|case| case.reason);
        let own = if self.tool == "nasty" { Some("gateway/UPSTREAM_ERROR") } else { of_case };
        own.into_iter().chain(WEATHER).collect()
    }

    /// Whether the result must equal the arguments.
    fn echoes(&self) -> bool {
        matches!(self.tool, "echo" | "late" | "chatter" | "last_words" | "t")
    }
}

/// Half of the HTTP responses are bad. Those that last until the deadline are rare.
fn bad_answer(chance: &mut SeededRandom) -> Value {
    if chance.below(2) == 0 {
        return Value::Null;
    }
    if chance.below(30) == 0 {
        return json!("404");
    }
    let case = chance.of(bad_answers()).filter(|case| !case.reason.ends_with("TIMEOUT"));
    case.map_or(Value::Null, |case| json!(case.name))
}

/// Makes a call and checks everything about its answer.
pub(crate) async fn make(
    caller: &Caller,
    wire: &mut Option<Wire>,
    call: &Call,
    verdict: &Verdict,
) -> Option<ReceivedMessage> {
    let id = caller.id();
    let response = caller.post(wire, call.message(caller, &id).as_bytes()).await;
    let seen = the_answer(&response, &id, verdict)?;
    let failed = seen.fault().is_some();
    if failed {
        verdict.count(seen.reason().to_owned());
        verdict.failed_as(seen.reference().to_owned());
        let reasons = call.reasons();
        verdict.check(reasons.contains(&seen.reason()), || {
            format!("{} of {}: {}", seen.reason(), call.tool, seen.text)
        });
        let effect = seen.fault().and_then(|fault| fault["effect"].as_str()).unwrap_or_default().to_owned();
        verdict
            .check(matches!(&*effect, "none" | "unknown"), || format!("the effect {effect}: {}", seen.text));
    } else {
        verdict.count(format!("answered by {}", call.upstream));
        let sent = call.arguments.to_string();
        let own = !call.echoes() || seen.first_text() == sent;
        verdict.check(own, || format!("somebody else's answer to {sent}: {:.300}", seen.text));
    }
    Some(seen)
}

/// The single response of an exchange.
pub(crate) fn the_answer(response: &Response, id: &str, verdict: &Verdict) -> Option<ReceivedMessage> {
    let seen = answer_of_any_status(response, id, verdict);
    let body = || String::from_utf8_lossy(&response.body);
    verdict
        .check(response.status == 200, || format!("status {} to a call: {:.300}", response.status, body()));
    seen
}

pub(crate) fn answer_of_any_status(
    response: &Response,
    id: &str,
    verdict: &Verdict,
) -> Option<ReceivedMessage> {
    let body = String::from_utf8_lossy(&response.body);
    verdict.no_secrets(&body);
    verdict.no_secrets(&format!("{:?}", response.headers));
    let messages = match response.messages() {
        Ok(messages) => messages,
        Err(why) => {
            verdict.check(false, || format!("not a message: {why:.300}"));
            return None;
        }
    };
    let mut answers: Vec<ReceivedMessage> =
        messages.into_iter().filter(|message| message.value.get("method").is_none()).collect();
    let once = answers.len() == 1 && answers.iter().all(|answer| answer.is_answer_to(&format!("\"{id}\"")));
    verdict.check(once, || format!("not exactly one answer to {id}: {body:.300}"));
    answers.pop()
}

/// Makes an upstream start a child process.
pub(crate) async fn spawn_below(caller: &Caller, upstream: &'static str, verdict: &Verdict) {
    let call = Call { upstream, tool: "spawn", arguments: json!({}) };
    let id = caller.id();
    let response = caller.post(&mut None, call.message(caller, &id).as_bytes()).await;
    let started =
        the_answer(&response, &id, verdict).is_some_and(|seen| seen.first_text().parse::<u32>().is_ok());
    verdict.check(started, || format!("{upstream} started no child"));
}
