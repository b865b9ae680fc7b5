//! JSON-RPC messages: one strict scan of the bytes, the message with its id, its protocol era, and the reply
//! address.
//!
//! Read in this order: [`scan`] (checks the JSON and locates its parts), [`raw`] (values borrowed from
//! scanned text), [`message`] (request, notification or response), [`era`], [`reply_to`].
//!
//! # Invariants
//!
//! * Bytes are checked once. Everything after the scan borrows from them; no message is parsed again to
//!   forward it.
//! * The scan never recurses and never allocates in proportion to an ordinary message.
//! * Two readers of an accepted message cannot disagree about it: no duplicate keys (compared decoded), no
//!   lone surrogates, no numbers that overflow a double.
//! * An id is its exact text. It is echoed byte for byte, even if a double could not represent it.
//! * Absent on purpose: JSON-RPC code numbers and HTTP statuses (they belong to the renderer), and any I/O.

mod caller;
mod direction;
pub mod era;
pub mod id;
pub mod message;
pub mod raw;
pub mod reply_to;
mod role;
pub mod scan;
mod trace;
pub mod write;

pub use caller::Caller;
pub use direction::{Direction, TargetName};
pub use era::{Era, Revision, meta};
pub use id::Id;
pub use message::{
    Incoming, Message, MessageBuf, MessageKind, Notification, Request, Response, UnreadableMessage, read,
};
pub use raw::{Fields, Json, Kind, Object, Raw};
pub use reply_to::{Dialect, ExpectedReply, ExpectedResult, ReplyTo, RestStyle};
pub use role::Role;
pub use scan::{Defect, Limits};
pub use trace::{
    RemoteContext, SamplingDecision, SpanId, TRACEPARENT, TRACESTATE, Trace, TraceId, TraceMark,
};
pub use write::{json_string, on_one_line, push_json_string};
