//! A record as it is kept: one JSON object, whose exact bytes are what the chain covers.

use std::borrow::Cow;

use failwell_fault::{Fault, Retry};
use failwell_render::{Moment, codes, public_object};
use failwell_rpc::{Asked, Era, Face, ReplyTo};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record::{Ended, Record, Verdict};
use crate::redact::{BodySort, Redact};
use crate::story::Story;

/// The most bytes of one text the caller chose: a target, a method, an id.
const MOST_NAME: usize = 1_024;
/// The most bytes of one text within the public object.
const MOST_TOLD: usize = 16 * 1024;

/// The members, in the order they are written. Times and sizes have their unit in the name.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Line<'a> {
    /// When it ended, as RFC 3339.
    pub timestamp: Cow<'a, str>,
    /// The reference the caller was given.
    #[serde(rename = "ref")]
    pub reference: Cow<'a, str>,
    /// `ok`, `tool_failed`, `fault`; `event` for what the ledger says of itself.
    pub outcome: Cow<'a, str>,
    /// Which server was asked.
    pub service: Cow<'a, str>,
    /// How it came in.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub transport: Cow<'a, str>,
    /// `mcp`, `rpc` or `rest`.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub face: Cow<'a, str>,
    /// `session` or `modern`, on MCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub era: Option<Cow<'a, str>>,
    /// The revision of MCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<Cow<'a, str>>,
    /// Connection or session.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub connection_id: Cow<'a, str>,
    /// The id of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<Cow<'a, str>>,
    /// Who sent it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<Cow<'a, str>>,
    /// The method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<Cow<'a, str>>,
    /// Tool, resource or prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Cow<'a, str>>,
    /// The server behind the gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<Cow<'a, str>>,
    /// How long it took, in microseconds.
    pub duration_us: u64,
    /// Bytes in.
    pub bytes_in: u64,
    /// Bytes out.
    pub bytes_out: u64,
    /// The trace it was part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<Cow<'a, str>>,
    /// Its own span in that trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span_id: Option<Cow<'a, str>>,
    /// Why it failed, from the catalogue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Cow<'a, str>>,
    /// What the caller should do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Cow<'a, str>>,
    /// The number the caller was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// What it did before it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Cow<'a, str>>,
    /// When to try again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Cow<'a, str>>,
    /// Whose doing it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Cow<'a, str>>,
    /// What each guard said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<GuardLine<'a>>,
    /// What only the operator may know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub story: Option<Box<Story<'a>>>,
    /// What the caller was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told: Option<Box<Value>>,
    /// What came in and went out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bodies: Option<Box<BodyLine>>,
    /// What happened to the ledger itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<Box<Event>>,
}

/// What one guard said.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GuardLine<'a> {
    /// Which guard.
    pub guard: Cow<'a, str>,
    /// What it looked at.
    pub looked_at: Cow<'a, str>,
    /// What it decided.
    pub decided: Cow<'a, str>,
    /// What it found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<Cow<'a, str>>,
    /// When, from the start of the exchange.
    pub after_us: u64,
    /// How long it took.
    pub took_us: u64,
}

/// What came in and went out, redacted and capped.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct BodyLine {
    /// What came in.
    pub request: String,
    /// What went out.
    pub answer: String,
}

/// What the ledger says of itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "what")]
pub enum Event {
    /// Records that could not be kept.
    Lost {
        /// How many.
        records: u64,
    },
    /// Old records were removed up to and with this one.
    Pruned {
        /// Its number.
        through: i64,
        /// Its hash.
        hash: String,
        /// How many were removed.
        records: u64,
    },
}

impl Line<'_> {
    /// The line of an exchange.
    pub(crate) fn of<'a>(record: &'a Record, redact: &Redact, most_body: usize) -> Line<'a> {
        let moment = Moment::from(record.ended);
        let mut line = Line {
            timestamp: moment.to_string().into(),
            reference: record.to.reference.to_string().into(),
            outcome: outcome(&record.ended_as).into(),
            service: record.service.into(),
            transport: record.transport.as_str().into(),
            face: face(record.to.face).into(),
            connection_id: record.connection.as_ref().into(),
            request_id: record.to.id.as_ref().map(|id| chosen(id.text(), redact)),
            caller: record.caller.as_deref().map(Cow::from),
            method: record.method.as_deref().map(Cow::from),
            target: record.target.as_deref().map(Cow::from),
            server: record.server.as_deref().map(Cow::from),
            duration_us: micros(record.took),
            bytes_in: record.bytes_in as u64,
            bytes_out: record.bytes_out as u64,
            trace_id: record.trace.map(|mark| mark.trace.to_string().into()),
            span_id: record.trace.map(|mark| mark.span.to_string().into()),
            guards: record.verdicts.iter().map(GuardLine::of).collect(),
            ..Line::default()
        };
        if let Face::Mcp(revision) = record.to.face {
            line.era = Some(if revision.era() == Era::Session { "session" } else { "modern" }.into());
            line.revision = Some(revision.as_str().into());
        }
        let is_odd = record.target.as_ref().is_some_and(|target| target.contains(':'));
        if !matches!(record.ended_as, Ended::Well) || is_odd {
            // A name that exists is known to be harmless; one that does not may be anything.
            line.target = line.target.map(|target| redact.text(&target, MOST_NAME).into());
        }
        // The same holds for methods; those we know are literals. A notice may name any.
        if let Some(Cow::Owned(method)) = &record.method {
            line.method = Some(redact.text(method, MOST_NAME).into());
        }
        if let Some(fault) = record.ended_as.fault() {
            line.failed(fault, &record.to, moment, redact);
        }
        if matches!((&record.ended_as, record.to.face), (Ended::ToolFailed(_), Face::Mcp(_))) {
            // MCP passed the tool's result on, so the caller was told nothing of ours.
            line.told = None;
        }
        if let Some(bodies) = &record.bodies {
            let answer = match record.ended_as {
                Ended::ToolFault(_) | Ended::Fault(_) => BodySort::Error,
                // The guards treat the words of a failing tool as a result.
                Ended::Well | Ended::ToolFailed(_) => BodySort::Result,
            };
            let body = |sort, bytes: &[u8]| redact.body(sort, &bodies.server, bytes, most_body);
            line.bodies = Some(Box::new(BodyLine {
                request: body(BodySort::Request, &bodies.request),
                answer: body(answer, &bodies.answer),
            }));
        }
        line
    }

    fn failed(&mut self, fault: &Fault, to: &ReplyTo, moment: Moment, redact: &Redact) {
        let reason = fault.reason();
        self.reason = Some(reason.id.into());
        self.kind = Some(reason.kind.as_str().into());
        self.code = Some(code(fault, to));
        self.effect = Some(fault.effect().as_str().into());
        self.retry = Some(retry(fault.retry()));
        self.origin = Some(fault.origin().as_str().into());
        self.story = Some(Box::new(Story::of(fault, redact)));
        let told = serde_json::from_str(&public_object(fault, to, moment)).unwrap_or(Value::Null);
        self.told = Some(Box::new(redact.value(told, MOST_TOLD)));
    }

    /// The line of something that happened to the ledger itself.
    pub(crate) fn event(event: Event, moment: Moment) -> Line<'static> {
        Line {
            timestamp: moment.to_string().into(),
            reference: failwell_fault::Ref::fresh().to_string().into(),
            outcome: "event".into(),
            service: "ledger".into(),
            event: Some(Box::new(event)),
            ..Line::default()
        }
    }

    /// Whether somebody may come and ask about it.
    pub fn has_failed(&self) -> bool {
        self.outcome != "ok"
    }
}

impl GuardLine<'_> {
    fn of(verdict: &Verdict) -> GuardLine<'_> {
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

/// The number a caller is given for a fault.
pub fn code(fault: &Fault, to: &ReplyTo) -> i32 {
    match to.asked {
        Asked::ToolOrError if codes::shown_to_the_model(fault.reason()) => codes::tool_error(fault.reason()),
        _ => codes::answer(fault.reason(), to.face).code,
    }
}

/// Text a caller chose. Short ones cannot hold a secret.
fn chosen<'a>(text: &'a str, redact: &Redact) -> Cow<'a, str> {
    if text.len() <= 12 { text.into() } else { redact.text(text, MOST_NAME).into() }
}

fn micros(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn outcome(ended: &Ended) -> &'static str {
    match ended {
        Ended::Well => "ok",
        Ended::ToolFailed(_) | Ended::ToolFault(_) => "tool_failed",
        Ended::Fault(_) => "fault",
    }
}

fn face(face: Face) -> &'static str {
    match face {
        Face::Mcp(_) => "mcp",
        Face::Rpc => "rpc",
        Face::Rest(_) => "rest",
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
