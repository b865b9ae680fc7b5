//! One exchange after its work, before rendering and recording.

use failwell_fault::Fault;
use failwell_render::Outcome;
use failwell_rpc::Caller;
use failwell_rpc::ReplyTo;
use failwell_rpc::Trace;

use crate::request::scope::ExchangeLog;

pub(crate) struct Exchange<'a> {
    /// The destination of the response.
    pub(crate) to: ReplyTo,
    pub(crate) outcome: Result<Outcome, Fault>,
    pub(crate) method: Option<&'a str>,
    /// The connection that the request arrived on.
    pub(crate) connection: &'a str,
    /// The caller, if identified.
    pub(crate) caller: Option<&'a Caller>,
    /// The message, if it could be read.
    pub(crate) request: Option<&'a str>,
    /// The trace, if tracing is on.
    pub(crate) trace: Option<Trace>,
    /// The facts that the stages collected.
    pub(crate) log: ExchangeLog,
}

impl<'a> Exchange<'a> {
    /// Whether the response shows a secret to its owner, once.
    pub(crate) fn shows_secret(&self) -> bool {
        self.log.is_secret() && self.outcome.is_ok()
    }

    /// A message that is refused before it is parsed.
    pub(crate) fn refused(fault: Fault, to: ReplyTo, log: ExchangeLog, connection: &'a str) -> Exchange<'a> {
        let (method, caller, request, trace) = (None, None, None, None);
        Exchange { to, outcome: Err(fault), method, connection, caller, request, trace, log }
    }
}
