//! A stored record: one JSON object. The hash chain covers its exact bytes.

use std::borrow::Cow;

use failwell_fault::{Fault, Retry};
use failwell_render::codes::fault_code;
use failwell_render::{Moment, public_object};
use failwell_rpc::{Dialect, Era, ReplyTo};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use failwell_journal::FaultReport;
use failwell_journal::{BodyKind, TextRedactor};
use failwell_pipeline::{ASIDE, ExchangeOutcome, Record, Verdict};

/// Maximum bytes of a text that the caller chose: a target, a method, an id.
const MOST_NAME: usize = 1_024;
/// Maximum bytes of one text in the public half of a fault.
const LARGEST_PUBLIC_FAULT: usize = 16 * 1024;

/// The members, in the order of output. Names of times and sizes include the unit.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordLine<'a> {
    /// The end of the exchange, as RFC 3339.
    pub timestamp: Cow<'a, str>,
    /// The reference in the response.
    #[serde(rename = "ref")]
    pub reference: Cow<'a, str>,
    /// `ok`, `tool_failed`, `fault`; `event` for records about the ledger itself.
    pub outcome: Cow<'a, str>,
    pub service: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub transport: Cow<'a, str>,
    /// The dialect: `mcp`, `rpc` or `rest`.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub face: Cow<'a, str>,
    /// `session` or `modern`, on MCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub era: Option<Cow<'a, str>>,
    /// The MCP revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<Cow<'a, str>>,
    /// The connection or session.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub connection_id: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<Cow<'a, str>>,
    /// The address of a caller that was refused before it was identified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<Cow<'a, str>>,
    /// The tool, resource or prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Cow<'a, str>>,
    /// The upstream server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<Cow<'a, str>>,
    pub duration_us: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span_id: Option<Cow<'a, str>>,
    /// The reason of the fault, from the catalogue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Cow<'a, str>>,
    /// The kind of the fault, which tells the caller how to react.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Cow<'a, str>>,
    /// The error code in the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The effect of the request before it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Cow<'a, str>>,
    /// The retry advice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Cow<'a, str>>,
    /// The party at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Cow<'a, str>>,
    /// The decisions of the guards.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<GuardLine<'a>>,
    /// The private half of the fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub story: Option<Box<FaultReport<'a>>>,
    /// The public half of the fault, as the caller received it.
    #[serde(rename = "told", skip_serializing_if = "Option::is_none")]
    pub public_fault: Option<Box<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bodies: Option<Box<BodyLine>>,
    /// An event of the ledger itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<Box<Event>>,
}

/// The decision of one guard.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GuardLine<'a> {
    pub guard: Cow<'a, str>,
    pub looked_at: Cow<'a, str>,
    pub decided: Cow<'a, str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<Cow<'a, str>>,
    /// The time of the decision, relative to the start of the exchange.
    pub after_us: u64,
    pub took_us: u64,
}

/// Request and response, redacted and cut to the configured maximum.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct BodyLine {
    pub request: String,
    pub answer: String,
}

/// An event of the ledger itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "what")]
pub enum Event {
    /// Records could not be written.
    Lost {
        /// The number of lost records.
        records: u64,
    },
    /// Retention removed all records up to this one.
    Pruned {
        /// The sequence number of the last removed record.
        through: i64,
        /// The hash of the last removed record.
        hash: String,
        /// The number of removed records.
        records: u64,
        /// The number of refusals among them.
        #[serde(default)]
        refusals: u64,
        /// The time of the last removed record.
        #[serde(default)]
        until: String,
    },
    /// Retention removed refusals beyond their share.
    RefusalsPruned {
        records: u64,
        /// The time of the last removed refusal.
        until: String,
        ranges: Vec<RemovedRange>,
    },
    /// Requests that were refused before their caller was identified, and that have no record of their own.
    Refused {
        reason: String,
        /// Absent: several addresses.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        address: Option<String>,
        count: u64,
        since: String,
    },
    /// A program that wrote the ledger was killed, or ended before it had written all records.
    UncleanEnd {
        started: String,
        pid: u32,
        /// The records that it knew to be lost.
        lost: u64,
    },
    /// The file was removed or replaced while it was in use. Its chain had reached this record.
    FileReplaced { seq: i64, hash: String },
}

/// A range of records that were removed from the middle of the chain.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RemovedRange {
    pub first: i64,
    pub last: i64,
    /// The hash of the last one.
    pub hash: String,
}

impl RecordLine<'_> {
    pub(crate) fn of<'a>(record: &'a Record, redact: &TextRedactor, most_body: usize) -> RecordLine<'a> {
        let moment = Moment::from(record.ended);
        let mut line = RecordLine {
            timestamp: moment.to_string().into(),
            reference: record.to.reference.to_string().into(),
            outcome: outcome(&record.ended_as).into(),
            service: record.service.into(),
            transport: record.transport.as_str().into(),
            face: face(record.to.dialect).into(),
            connection_id: record.connection.as_ref().into(),
            request_id: record.to.id.as_ref().map(|id| chosen(id.plain(), redact)),
            caller: record.caller.as_deref().map(Cow::from),
            address: record.refused_from.map(|address| address.to_string().into()),
            method: record.method.as_deref().map(Cow::from),
            target: record.target.as_deref().map(Cow::from),
            server: record.server.as_deref().map(Cow::from),
            duration_us: micros(record.took),
            bytes_in: record.bytes_in as u64,
            bytes_out: record.bytes_out as u64,
            trace_id: record.trace.map(|mark| mark.trace.to_string().into()),
            span_id: record.trace.map(|mark| mark.span.to_string().into()),
            guards: record.verdicts.iter().map(GuardLine::from_verdict).collect(),
            ..RecordLine::default()
        };
        if let Dialect::Mcp(revision) = record.to.dialect {
            line.era = Some(if revision.era() == Era::Session { "session" } else { "modern" }.into());
            line.revision = Some(revision.as_str().into());
        }
        let is_odd = record.target.as_ref().is_some_and(|target| target.contains(':'));
        if !matches!(record.ended_as, ExchangeOutcome::Succeeded) || is_odd {
            // A target that exists is harmless; an unknown name may contain anything, so it is redacted.
            line.target = line.target.map(|target| redact.text(&target, MOST_NAME).into());
        }
        // The same applies to methods: known ones are literals. A notification may have any name.
        if let Some(Cow::Owned(method)) = &record.method {
            line.method = Some(redact.text(method, MOST_NAME).into());
        }
        if let Some(fault) = record.ended_as.fault() {
            line.failed(fault, &record.to, moment, redact);
        }
        if matches!((&record.ended_as, record.to.dialect), (ExchangeOutcome::ToolFailed(_), Dialect::Mcp(_)))
        {
            // On MCP the caller received the tool's own result, not a fault of ours.
            line.public_fault = None;
        }
        if record.method.as_deref() == Some(ASIDE) {
            line.public_fault = None;
        }
        if let Some(bodies) = &record.bodies {
            let answer = match record.ended_as {
                ExchangeOutcome::ToolFault(_) | ExchangeOutcome::Fault(_) => BodyKind::Error,
                // Guards treat the output of a failed tool as a result.
                ExchangeOutcome::Succeeded | ExchangeOutcome::ToolFailed(_) => BodyKind::Result,
            };
            let body = |sort, bytes: &[u8]| redact.body(sort, &bodies.server, bytes, most_body);
            line.bodies = Some(Box::new(BodyLine {
                request: body(BodyKind::Request, &bodies.request),
                answer: body(answer, &bodies.answer),
            }));
        }
        line
    }

    fn failed(&mut self, fault: &Fault, to: &ReplyTo, moment: Moment, redact: &TextRedactor) {
        let reason = fault.reason();
        self.reason = Some(reason.id.into());
        self.kind = Some(reason.kind.as_str().into());
        self.code = Some(fault_code(fault, to));
        self.effect = Some(fault.effect().as_str().into());
        self.retry = Some(retry(fault.retry()));
        self.origin = Some(fault.origin().as_str().into());
        self.story = Some(Box::new(FaultReport::new(fault, redact)));
        let public = serde_json::from_str(&public_object(fault, to, moment)).unwrap_or(Value::Null);
        self.public_fault = Some(Box::new(redact.value(public, LARGEST_PUBLIC_FAULT)));
    }

    pub(crate) fn event(event: Event, moment: Moment) -> RecordLine<'static> {
        RecordLine {
            timestamp: moment.to_string().into(),
            reference: failwell_fault::Ref::fresh().to_string().into(),
            outcome: "event".into(),
            service: "ledger".into(),
            event: Some(Box::new(event)),
            ..RecordLine::default()
        }
    }

    /// Returns true if a caller may ask about this record by its reference.
    pub fn has_failed(&self) -> bool {
        self.outcome != "ok"
    }
}

impl GuardLine<'_> {
    fn from_verdict(verdict: &Verdict) -> GuardLine<'_> {
        GuardLine {
            guard: verdict.guard.as_ref().into(),
            looked_at: verdict.looked_at.into(),
            decided: verdict.decided.into(),
            found: verdict.found.iter().map(|found| found.as_ref().into()).collect(),
            after_us: micros(verdict.after),
            took_us: micros(verdict.took),
        }
    }
}

/// Redacts text that a caller chose. Short texts cannot contain a secret.
fn chosen<'a>(text: Cow<'a, str>, redact: &TextRedactor) -> Cow<'a, str> {
    if text.len() <= 10 { text } else { redact.text(&text, MOST_NAME).into() }
}

fn micros(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn outcome(ended: &ExchangeOutcome) -> &'static str {
    match ended {
        ExchangeOutcome::Succeeded => "ok",
        ExchangeOutcome::ToolFailed(_) | ExchangeOutcome::ToolFault(_) => "tool_failed",
        ExchangeOutcome::Fault(_) => "fault",
    }
}

fn face(face: Dialect) -> &'static str {
    match face {
        Dialect::Mcp(_) => "mcp",
        Dialect::Rpc => "rpc",
        Dialect::Rest(_) => "rest",
    }
}

fn retry(retry: Retry) -> Cow<'static, str> {
    match retry {
        Retry::Never => "never".into(),
        Retry::AfterChange => "after_change".into(),
        Retry::Once => "once".into(),
        Retry::After(wait) => format!("after {} ms", wait.as_millis()).into(),
    }
}
