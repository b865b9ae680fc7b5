//! Messages that must not be answered: notifications, and cancellation before, during and after a request.

use crate::checks::check::{Check, Expectation};
use crate::checks::procedure::Procedure;
use crate::connection::Patience;
use crate::target::Transport;

const RULE: &str = "JSON-RPC 2.0 4.1: the server MUST NOT reply to a notification";
const IGNORE: &str = "MCP cancellation: unknown, finished and malformed cancellations are ignored";

const fn quiet(id: &'static str, title: &'static str, body: &'static str) -> Check {
    Check::text(id, title, body, Expectation::Silence).patience(Patience::Settle).rule(RULE)
}

pub(super) const CHECKS: &[Check] = &[
    quiet("notification.unknown", "an unknown notification", r#"{"jsonrpc":"2.0","method":"notifications/failwell-unknown","params":{$META}}"#),
    quiet("notification.malformed", "a notification with wrong params", r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{},"progress":"x",$META}}"#),
    quiet("notification.request-method", "a request sent without an id", r#"{"jsonrpc":"2.0","method":"tools/list","params":{$META}}"#),
    quiet("notification.stray-response", "an unsolicited response", r#"{"jsonrpc":"2.0","id":"failwell-stray","result":{}}"#)
        .rule("JSON-RPC 2.0 5: a response is not answered"),
    quiet("notification.stray-error", "an unsolicited error response", r#"{"jsonrpc":"2.0","id":"failwell-stray","error":{"code":-32603,"message":"x"}}"#)
        .rule("JSON-RPC 2.0 5: a response is not answered"),
    quiet("cancel.unknown", "cancelling an unknown request", r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"failwell-never","reason":"probe",$META}}"#).rule(IGNORE),
    quiet("cancel.malformed", "cancelling without a request id", r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{},$META}}"#).rule(IGNORE),
    quiet("cancel.no-params", "cancelling without params", r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#).rule(IGNORE),
    Check::special("cancel.before", "cancelling an id before it is used", Procedure::CancelBefore, "the later request is answered once").over(Transport::Stdio).rule(IGNORE),
    Check::special("cancel.after", "cancelling a finished request", Procedure::CancelAfter, "silence").rule(IGNORE),
    Check::special("cancel.during", "cancelling a call while it runs", Procedure::CancelDuring, "at most one answer, and none of the work after it was called off")
        .needs("tools").over(Transport::Stdio).should().rule("MCP cancellation: the receiver SHOULD stop and not send a response"),
];
