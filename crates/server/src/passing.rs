//! What a request brings that nobody here understands: a room that passes requests on passes it on as it is.

use failwell_audit::{TRACEPARENT, TRACESTATE, Trace};
use failwell_rpc::{Json, Request, meta};

use crate::arrival::Meta;

/// Members of a request beyond those its method is read by here.
#[derive(Debug, Clone, Default)]
pub struct Passing {
    /// Members of `params`; for prompts and completions also the arguments as they were written.
    pub params: Option<Json>,
    /// Members of `params._meta`: all but those that are about this very conversation.
    pub meta: Option<Json>,
}

/// The keys of `_meta` that mean something between two sides only, and something else between the next two.
const BETWEEN_US: [&str; 8] = [
    meta::PROTOCOL_VERSION,
    meta::CLIENT_CAPABILITIES,
    meta::CLIENT_INFO,
    meta::LOG_LEVEL,
    meta::PROGRESS_TOKEN,
    meta::RELATED_TASK,
    // Only where we take part in the trace ourselves: then the next step is ours to name.
    TRACEPARENT,
    TRACESTATE,
];
/// How many of them are ours whether or not we take part in a trace.
const ALWAYS: usize = 6;

impl Passing {
    pub(crate) fn of(request: &Request<'_>, said: &Meta<'_>, trace: Option<&Trace>) -> Passing {
        let ours =
            if trace.is_some() { &BETWEEN_US } else { BETWEEN_US.get(..ALWAYS).unwrap_or(&BETWEEN_US) };
        let more = || request.param("_meta")?.as_object()?.without(ours);
        Passing {
            params: request.other_params(read_here(&request.method)),
            meta: said.has_more.then(more).flatten(),
        }
    }
}

/// The params a method is passed on without, because they are named, sealed or kept differently on the other side.
fn read_here(method: &str) -> &'static [&'static str] {
    match method {
        "tools/call" => &["_meta", "name", "arguments", "inputResponses", "requestState", "task"],
        "prompts/get" => &["_meta", "name", "inputResponses", "requestState"],
        "resources/read" => &["_meta", "uri", "inputResponses", "requestState"],
        "completion/complete" => &["_meta"],
        _ => &["_meta", "cursor", "uri"],
    }
}
