//! One request to an upstream as a step of its caller's trace.

use std::borrow::Cow;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

use failwell_audit::{Side, Span, SpanOutcome, Transport};
use failwell_fault::{Fault, Reason, reason};
use failwell_rpc::{Json, Revision};
use failwell_server::{Context, Trace, reports_failure};
use http::Uri;

use crate::settings::{Reach, UpstreamSettings};
use crate::upstream::Ask;

/// A step that is on its way. Dropped before its end, it was called off.
pub(crate) struct Step(Option<Box<Open>>);

struct Open {
    cx: Context,
    trace: Trace,
    began: Instant,
    method: Cow<'static, str>,
    target: Option<Box<str>>,
    server: Box<str>,
    address: Option<(Box<str>, u16)>,
    transport: Transport,
    /// Its number there, and what is spoken there.
    left: OnceLock<(u64, Revision)>,
}

impl Step {
    pub(crate) fn begin(cx: &Context, trace: &Trace, settings: &UpstreamSettings, ask: &Ask<'_>) -> Step {
        let (transport, address) = match &settings.reach {
            Reach::Child { .. } => (Transport::Stdio, None),
            Reach::Http { url, .. } => (Transport::Http, address(url)),
        };
        Step(Some(Box::new(Open {
            cx: cx.clone(),
            trace: trace.child(),
            began: Instant::now(),
            method: Cow::Owned(ask.method.to_owned()),
            target: ask.params.target(),
            server: settings.name.as_str().into(),
            address,
            transport,
            left: OnceLock::new(),
        })))
    }

    /// What the upstream is told about it.
    pub(crate) fn trace(&self) -> Option<&Trace> {
        self.0.as_ref().map(|open| &open.trace)
    }

    /// It is on its way, under this number.
    pub(crate) fn left(&self, number: u64, revision: Revision) {
        if let Some(open) = &self.0 {
            let _ = open.left.set((number, revision));
        }
    }

    /// It was answered, or will never be.
    pub(crate) fn end(mut self, answer: Result<&Json, &Fault>) {
        if let Some(open) = self.0.take() {
            let outcome = outcome(&open.method, answer);
            open.end(outcome);
        }
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if let Some(open) = self.0.take() {
            open.end(failed(&reason::SERVER_CANCELLED, None));
        }
    }
}

impl Open {
    fn end(self, outcome: SpanOutcome) {
        let took: Duration = self.began.elapsed();
        let left = self.left.get();
        self.cx.end_span(Span {
            trace: self.trace,
            side: Side::Client { server: self.server, address: self.address },
            ended: SystemTime::now(),
            took,
            method: Some(self.method),
            target: self.target,
            request_id: left.map(|(number, _)| number.to_string().into()),
            revision: left.map(|(_, revision)| revision.as_str()),
            transport: self.transport,
            outcome,
        });
    }
}

fn outcome(method: &str, answer: Result<&Json, &Fault>) -> SpanOutcome {
    match answer {
        Ok(result) if method == "tools/call" && result.raw().as_object().is_some_and(reports_failure) => {
            SpanOutcome::ToolFailed
        }
        Ok(_) => SpanOutcome::Well,
        Err(fault) => {
            let code = fault.get("upstream_code").and_then(|code| code.to_string().parse().ok());
            failed(fault.reason(), code)
        }
    }
}

fn failed(reason: &'static Reason, code: Option<i64>) -> SpanOutcome {
    SpanOutcome::Failed { reason: reason.id, title: reason.title, code }
}

fn address(url: &str) -> Option<(Box<str>, u16)> {
    let uri: Uri = url.parse().ok()?;
    let usual = if uri.scheme_str() == Some("https") { 443 } else { 80 };
    Some((uri.host()?.into(), uri.port_u16().unwrap_or(usual)))
}
