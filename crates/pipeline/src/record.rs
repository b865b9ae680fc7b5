//! The record of one exchange as the pipeline hands it over: owned and unformatted.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use failwell_fault::Fault;
use failwell_rpc::{ReplyTo, TraceMark};
use parking_lot::Mutex;

/// The method of a failure that a request survives. Its caller is not told of it.
pub const ASIDE: &str = "aside";

/// One exchange. The request path creates it, so it only moves existing values; the writer formats it later.
#[derive(Debug)]
pub struct Record {
    /// The destination of the response: reference, id, dialect.
    pub to: ReplyTo,
    pub ended: SystemTime,
    pub took: Duration,
    pub service: &'static str,
    /// The connection or session; empty if it has no name.
    pub connection: Cow<'static, str>,
    pub transport: Transport,
    /// The caller, if identified.
    pub caller: Option<Arc<str>>,
    /// The address of a caller that was refused before it was identified.
    pub refused_from: Option<IpAddr>,
    /// The method, if it could be read.
    pub method: Option<Cow<'static, str>>,
    /// The tool, resource or prompt.
    pub target: Option<Box<str>>,
    /// The upstream server that the target belongs to.
    pub server: Option<Box<str>>,
    pub ended_as: ExchangeOutcome,
    /// Size of the request, if counted.
    pub bytes_in: usize,
    pub bytes_out: usize,
    /// The trace of the exchange, if tracing is on.
    pub trace: Option<TraceMark>,
    pub verdicts: Vec<Verdict>,
    /// The request and response, if bodies are recorded.
    pub bodies: Option<Box<Bodies>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    Stdio,
    Http,
    /// Entered by the operator at a terminal.
    Terminal,
}

impl Transport {
    pub fn as_str(self) -> &'static str {
        match self {
            Transport::Stdio => "stdio",
            Transport::Http => "http",
            Transport::Terminal => "terminal",
        }
    }
}

#[derive(Debug, Clone)]
pub enum ExchangeOutcome {
    Succeeded,
    /// The tool's own result reports a failure.
    ToolFailed(Arc<Fault>),
    /// The tool failed with a reason of the catalogue.
    ToolFault(Arc<Fault>),
    /// The request failed.
    Fault(Arc<Fault>),
}

impl ExchangeOutcome {
    /// The fault, unless the exchange succeeded.
    pub fn fault(&self) -> Option<&Arc<Fault>> {
        match self {
            ExchangeOutcome::ToolFailed(fault)
            | ExchangeOutcome::ToolFault(fault)
            | ExchangeOutcome::Fault(fault) => Some(fault),
            ExchangeOutcome::Succeeded => None,
        }
    }
}

/// Request and response, cut to the configured maximum.
#[derive(Debug, Default)]
pub struct Bodies {
    pub request: Vec<u8>,
    pub answer: Vec<u8>,
    /// The server of the exchange, if guard settings exist per server.
    pub server: String,
}

/// The part of a request that passed the guards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdmittedBody<'a> {
    /// No part is known to have passed.
    No,
    /// The request passed unchanged.
    Whole,
    /// The request passed after redaction.
    Changed(&'a str),
}

/// The decision of one guard.
#[derive(Debug, Clone)]
pub struct Verdict {
    pub guard: Cow<'static, str>,
    /// The message kind: `request`, `result`, `error`, `notification`.
    pub looked_at: &'static str,
    /// The decision: `pass`, `redact`, `block`, `audit_only`.
    pub decided: &'static str,
    /// The findings by category and place, never the content.
    pub found: Vec<Cow<'static, str>>,
    /// The time of the decision, relative to the start of the exchange.
    pub after: Duration,
    pub took: Duration,
}

/// By default one guard checks results. Thousands of records may be queued, so their capacity is exact.
const USUAL_VERDICTS: usize = 1;

/// Facts about an exchange that the stages collect.
#[derive(Debug, Default)]
pub struct ExchangeNotes {
    target: OnceLock<Box<str>>,
    admitted_body: OnceLock<Option<Box<str>>>,
    verdicts: Mutex<Vec<Verdict>>,
}

impl ExchangeNotes {
    /// Sets the tool, resource or prompt. The first call wins.
    pub fn set_target(&self, target: &str) {
        let _ = self.target.set(target.into());
    }

    pub fn target(&self) -> Option<&str> {
        self.target.get().map(AsRef::as_ref)
    }

    /// Records that every guard let the request pass, unchanged or redacted to `changed`.
    pub fn admit(&self, changed: Option<&str>) {
        let _ = self.admitted_body.set(changed.map(Box::from));
    }

    pub fn admitted(&self) -> AdmittedBody<'_> {
        match self.admitted_body.get() {
            None => AdmittedBody::No,
            Some(None) => AdmittedBody::Whole,
            Some(Some(changed)) => AdmittedBody::Changed(changed),
        }
    }

    pub fn add_verdict(&self, verdict: Verdict) {
        let mut verdicts = self.verdicts.lock();
        if verdicts.is_empty() {
            verdicts.reserve_exact(USUAL_VERDICTS);
        }
        verdicts.push(verdict);
    }

    pub fn into_parts(self) -> (Option<Box<str>>, Vec<Verdict>) {
        (self.target.into_inner(), self.verdicts.into_inner())
    }
}

/// The log in which guards and approvals record their decisions about one exchange.
#[derive(Debug, Clone, Copy)]
pub struct VerdictLog<'a> {
    pub notes: &'a ExchangeNotes,
    /// The start of the exchange.
    pub began: Instant,
}
