//! The request pipeline: the life of one request, one file per stage.
//!
//! [`Pipeline::handle`] calls the stages in the order of the table in ARCHITECTURE.md; each is a file under
//! `stages`. MCP of both eras, `/rpc` and REST become the same [`Call`]. The tool server behind it is a
//! `ToolServer` of `failwell-toolbox`.
//!
//! # Invariants
//!
//! * Every request gets exactly one response, after a panic, deadline, cancellation or shutdown too.
//!   Notifications and cancelled requests get no response.
//! * Every handler runs under a deadline and inside `catch_unwind`; every queue and table here is bounded.
//! * A handler asks its client through `Context::ask` in every era. State that a modern client carries for us
//!   is sealed and bound to caller, method and arguments.
//! * Incoming content passes the content guards before the work; outgoing content passes them before it
//!   leaves. This covers results, errors, notifications, questions and their answers, and the operator's
//!   journal. An id is returned exactly as the client sent it.
//! * Nodes share state through [`SharedState`] only. A node that is [`SingleNode`] shares nothing and waits for no
//!   other node.
//! * Absent on purpose: sockets, code numbers, HTTP statuses.

mod controls;
mod guidance;
mod metrics;
mod pipeline;
mod record;
mod recorder;
mod request;
mod session;
mod settings;
mod shutdown;
mod span;
mod stages;
mod tool_calls;

pub use controls::approvals::{ApprovalGrant, ApprovalNeed, Approvals};
pub use controls::guards::{ContentGuards, GuardedBytes, MessageMeta};
pub use controls::limits::{Admission, Permit, RateLimits};
pub use controls::record_sink::{ProgressObserver, RecordSink};
pub use controls::{Controls, EventFilter, MetricsWriter, ReadinessReport, UnreadyPart};
pub use pipeline::{Answer, Pipeline};
pub use record::{
    ASIDE, AdmittedBody, Bodies, ExchangeNotes, ExchangeOutcome, Record, Transport, Verdict, VerdictLog,
};
pub use recorder::Recorder;
pub use request::call::Call;
pub use request::extension::{
    Attachment, ExtensionCall, ExtensionOutcome, ExtensionRequest, ExtensionRoute, ResponseContent,
};
pub use request::incoming_request::{
    IncomingMessage, IncomingRequest, RequestEra, RestRequest, claims_modern,
};
pub use request::panic::{fault_of_panic, keep_panics_quiet};
pub use request::requester::Requester;
pub use session::hub::Hub;
pub use session::nodes::{fault_of_other_node, new_id};
pub use session::state::{
    NodeEvent, NodeMessage, SessionKey, SessionLookup, SharedSession, SharedState, SingleNode, StreamEvent,
    StreamOpening, StreamRecord, Track,
};
pub use session::stream::{Frame, FrameRetention, Stream, StreamRead};
pub use session::{ConcernedNode, STDIO, Session, SharedIds};
pub use settings::{PipelineSettings, ToolFailures};
pub use span::{Span, SpanKind, SpanOutcome, Spans, Tracer};
pub use stages::identify::{Headers, header_value, named_by, repeated_params};
pub use stages::parse::not_an_object;
