//! Guards that the operator wrote: their requests, their verdicts, and the redactions they ask for. The
//! guards run in other crates; the code here never waits.

mod custom_guard;
mod decoded_string;
mod pointer_tree;
mod redaction;
mod request;
mod rule;
mod verdict;

pub use custom_guard::{CustomGuard, VerdictFuture};
pub use failwell_rpc::TargetName;
pub use redaction::redact;
pub use request::GuardRequest;
pub use rule::{CustomRule, MessageContext};
pub use verdict::{CustomVerdict, MessagePart, RedactionRequest};
