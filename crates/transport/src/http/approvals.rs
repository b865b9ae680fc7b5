//! `/v1/approvals`: calls that need a person's yes, and the people who give it.

use std::sync::Arc;

use failwell_fault::{Fault, reason};
use failwell_policy::Caller;
use failwell_rpc::ReplyTo;
use failwell_server::{ApprovalCall, Decision, PlainCall, PlainFrom};
use http::{Method, Response};
use hyper::body::Incoming;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::body::Body;
use super::ladder::read_body;
use super::plain::read_shaped;
use super::request::Head;
use super::router::{Door, last};
use super::routes::Place;

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
        return door.refuse(far, head).await;
    }
    let id = head.part("id");
    let mut said = None;
    let call = match (head.place, head.method) {
        (Place::Approvals, _) => Ok(ApprovalCall::List),
        (_, &Method::POST) => match read_body(head, body, &door.settings).await {
            Err(fault) => return last(door.refuse(fault, head).await),
            Ok(bytes) => {
                said = String::from_utf8(bytes.to_vec()).ok();
                read_shaped(head, &bytes).and_then(|answer| decide(id, &answer))
            }
        },
        _ => Ok(ApprovalCall::Show(id)),
    };
    let (to, cancel) = (ReplyTo::misread(None, head.face()), CancellationToken::new());
    let call = call.map(PlainCall::Approvals);
    let from = PlainFrom { caller: &caller, connection: head.connection, request: said.as_deref() };
    door.reply(door.house.walk_plain(to, call, from, cancel).await)
}

/// An answer that has the shape of one.
fn decide(id: String, answer: &Value) -> Result<ApprovalCall, Fault> {
    let text = |name: &str| answer.get(name).and_then(Value::as_str);
    let decision =
        text("decision").and_then(Decision::named).ok_or_else(|| Fault::new(&reason::SERVER_BUG))?;
    Ok(ApprovalCall::Decide { id, decision, reason: text("reason").map(str::to_owned) })
}

#[cfg(test)]
mod tests {
    use super::decide;
    use crate::http::routes::{Takes, find};
    use failwell_server::{ApprovalCall, Decision};
    use serde_json::json;

    #[test]
    fn an_answer_is_read_whole_or_refused_with_all_that_is_wrong() {
        let read = decide("x".to_owned(), &json!({"decision": "deny", "reason": "no"}));
        let reason = Some("no".to_owned());
        let wanted = ApprovalCall::Decide { id: "x".to_owned(), decision: Decision::Deny, reason };
        assert_eq!(read.ok(), Some(wanted));
        let action = find("/v1/approvals/x").and_then(|route| route.action("POST")).expect("an action");
        let Takes::Json(shape) = action.takes else { panic!("it takes JSON") };
        for (answer, count) in [
            (json!({}), 1),
            (json!({"decision": "yes"}), 1),
            (json!({"decision": "maybe", "reason": 5, "resaon": ""}), 3),
        ] {
            let fault = shape.check(&answer.to_string()).expect_err("refused");
            assert_eq!(fault.violations().len(), count, "{answer}");
        }
    }
}
