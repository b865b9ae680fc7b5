//! Unknown request members, kept verbatim so that the gateway can forward them.

use failwell_rpc::{Request, meta};
use failwell_rpc::{TRACEPARENT, TRACESTATE, Trace};

use failwell_toolbox::ExtraParams;

use crate::stages::identify::RequestMeta;

/// The keys of `_meta` that apply to one hop only.
const BETWEEN_US: [&str; 8] = [
    meta::PROTOCOL_VERSION,
    meta::CLIENT_CAPABILITIES,
    meta::CLIENT_INFO,
    meta::LOG_LEVEL,
    meta::PROGRESS_TOKEN,
    meta::RELATED_TASK,
    // These two are removed only if we take part in the trace: then we name the next span.
    TRACEPARENT,
    TRACESTATE,
];
/// The number of keys that are removed even without a trace.
const ALWAYS: usize = 6;

impl RequestMeta<'_> {
    /// Returns the request members that this program does not read.
    pub(crate) fn extra_params(&self, request: &Request<'_>, trace: Option<&Trace>) -> ExtraParams {
        let ours =
            if trace.is_some() { &BETWEEN_US } else { BETWEEN_US.get(..ALWAYS).unwrap_or(&BETWEEN_US) };
        let more = || request.param("_meta")?.as_object()?.without(ours);
        ExtraParams {
            params: request.other_params(read_here(&request.method)),
            meta: self.has_more.then(more).flatten(),
        }
    }
}

/// The params that are not forwarded, because the next hop names, seals or stores them differently.
fn read_here(method: &str) -> &'static [&'static str] {
    match method {
        "tools/call" => &["_meta", "name", "arguments", "inputResponses", "requestState", "task"],
        "prompts/get" => &["_meta", "name", "inputResponses", "requestState"],
        "resources/read" => &["_meta", "uri", "inputResponses", "requestState"],
        "completion/complete" => &["_meta"],
        _ => &["_meta", "cursor", "uri"],
    }
}
