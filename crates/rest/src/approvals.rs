//! `/v1/approvals`: calls that need human approval, and the decisions on them.

use failwell_controls::ApprovalCall;
use failwell_fault::{Fault, reason};
use failwell_pipeline::Call;
use failwell_rpc::Caller;
use failwell_store::Decision;
use serde_json::Value;

use failwell_transport::paths::{RestInput, read_shaped};

use crate::services;

pub(crate) fn list(input: &RestInput<'_>) -> Result<Call<'static>, Fault> {
    check_place(input)?;
    Ok(services(input.mount)?.approvals(ApprovalCall::List))
}

pub(crate) fn show(input: &RestInput<'_>) -> Result<Call<'static>, Fault> {
    check_place(input)?;
    Ok(services(input.mount)?.approvals(ApprovalCall::Show(input.head.part("id"))))
}

pub(crate) fn answer(input: &RestInput<'_>) -> Result<Call<'static>, Fault> {
    check_place(input)?;
    let answer = read_shaped(input.head, input.body)?;
    Ok(services(input.mount)?.approvals(decide(input.head.part("id"), &answer)?))
}

/// Without authentication, only local callers may see and decide approvals.
fn check_place(input: &RestInput<'_>) -> Result<(), Fault> {
    match *input.caller == Caller::anonymous() && !input.head.peer.to_canonical().is_loopback() {
        true => Err(Fault::new(&reason::POLICY_DENIED).note("approvals", "the caller is on another machine")),
        false => Ok(()),
    }
}

/// Reads a decision whose body matches the schema.
fn decide(id: String, answer: &Value) -> Result<ApprovalCall, Fault> {
    let text = |name: &str| answer.get(name).and_then(Value::as_str);
    let decision =
        text("decision").and_then(Decision::parse).ok_or_else(|| Fault::new(&reason::SERVER_BUG))?;
    Ok(ApprovalCall::Decide { id, decision, reason: text("reason").map(str::to_owned) })
}

#[cfg(test)]
mod tests {
    use super::decide;
    use failwell_controls::ApprovalCall;
    use failwell_store::Decision;
    use failwell_transport::paths::{AcceptedBody, RouteTable};
    use serde_json::json;

    #[test]
    fn an_answer_is_read_whole_or_refused_with_all_that_is_wrong() {
        let read = decide("x".to_owned(), &json!({"decision": "deny", "reason": "no"}));
        let reason = Some("no".to_owned());
        let wanted = ApprovalCall::Decide { id: "x".to_owned(), decision: Decision::Deny, reason };
        assert_eq!(read.ok(), Some(wanted));
        let action = RouteTable::with(crate::ROUTES)
            .find("/v1/approvals/x")
            .and_then(|route| route.action("POST"))
            .expect("an action");
        let AcceptedBody::Json(shape) = action.accepts else { panic!("it takes JSON") };
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
