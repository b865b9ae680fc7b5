//! `/v1/approvals`: calls that need a person's yes, and the people who give it.

use std::sync::Arc;

use failwell_fault::{Fault, Pointer, Rule, Violation, reason};
use failwell_policy::Caller;
use failwell_rpc::ReplyTo;
use failwell_server::{ApprovalCall, Decision, PlainCall};
use http::{Method, Response};
use hyper::body::Incoming;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::body::Body;
use super::ladder::read_body;
use super::plain::read_arguments;
use super::request::{Head, Place};
use super::router::{Door, last};

/// Lists them, shows one, or takes an answer.
pub(super) async fn answer(
    door: &Arc<Door>,
    head: &Head<'_>,
    body: Incoming,
    caller: Caller,
) -> Response<Body> {
    // Without keys this machine is trusted, and no other.
    if caller == Caller::anonymous() && !head.peer.to_canonical().is_loopback() {
        let far = Fault::new(&reason::POLICY_DENIED).note("approvals", "the caller is on another machine");
        return door.refuse(far, head.face()).await;
    }
    let id = head.path.strip_prefix("/v1/approvals/").unwrap_or_default().to_owned();
    let mut said = None;
    let call = match (head.place, head.method) {
        (Place::Approvals, _) => Ok(ApprovalCall::List),
        (_, &Method::POST) => match read_body(head, body, &door.settings).await {
            Err(fault) => return last(door.refuse(fault, head.face()).await),
            Ok(bytes) => {
                said = String::from_utf8(bytes.to_vec()).ok();
                read_arguments(&bytes).and_then(|answer| decide(id, &answer))
            }
        },
        _ => Ok(ApprovalCall::Show(id)),
    };
    let (to, cancel) = (ReplyTo::misread(None, head.face()), CancellationToken::new());
    let call = call.map(PlainCall::Approvals);
    door.reply(door.house.walk_plain(to, call, &caller, said.as_deref(), cancel).await)
}

/// `{"decision": "approve" | "deny", "reason": "…"}`, with all that is wrong with it.
fn decide(id: String, answer: &Value) -> Result<ApprovalCall, Fault> {
    let at = |name: &str| Pointer::root().then(name);
    let mut wrong = Vec::new();
    let decision = match answer.get("decision").map(Value::as_str) {
        None => {
            wrong.push(Violation::new(at("decision"), Rule::Required));
            None
        }
        Some(word) => {
            let decision = word.and_then(Decision::named);
            if decision.is_none() {
                let words = vec!["approve", "deny"];
                wrong.push(Violation::new(at("decision"), Rule::Choice).limit(words));
            }
            decision
        }
    };
    let reason = answer.get("reason").filter(|reason| !reason.is_null());
    if reason.is_some_and(|reason| !reason.is_string()) {
        wrong.push(Violation::new(at("reason"), Rule::Type).limit("string"));
    }
    let members = answer.as_object().into_iter().flat_map(|members| members.keys());
    for name in members.filter(|name| !["decision", "reason"].contains(&name.as_str())) {
        wrong.push(Violation::new(at(name), Rule::Unknown));
    }
    match decision.filter(|_| wrong.is_empty()) {
        Some(decision) => {
            let reason = reason.and_then(Value::as_str).map(str::to_owned);
            Ok(ApprovalCall::Decide { id, decision, reason })
        }
        None => Err(wrong.into_iter().fold(Fault::new(&reason::MCP_BAD_ARGUMENTS), Fault::violation)),
    }
}

#[cfg(test)]
mod tests {
    use super::decide;
    use failwell_server::{ApprovalCall, Decision};
    use serde_json::json;

    #[test]
    fn an_answer_is_read_whole_or_refused_with_all_that_is_wrong() {
        let read = decide("x".to_owned(), &json!({"decision": "deny", "reason": "no"}));
        let reason = Some("no".to_owned());
        let wanted = ApprovalCall::Decide { id: "x".to_owned(), decision: Decision::Deny, reason };
        assert_eq!(read.ok(), Some(wanted));
        for (answer, count) in [
            (json!({}), 1),
            (json!({"decision": "yes"}), 1),
            (json!({"decision": true, "reason": 5, "resaon": ""}), 3),
        ] {
            let fault = decide("x".to_owned(), &answer).expect_err("refused");
            assert_eq!(fault.violations().len(), count, "{answer}");
        }
    }
}
