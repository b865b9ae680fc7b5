//! Stages `render` and `record`: every exchange is rendered, inspected by the guards, counted and recorded.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use failwell_fault::{Effect, Fault, Retry, reason};
use failwell_journal::Entry;
use failwell_render::{Moment, Outcome, Reply, render};
use failwell_rpc::Caller;
use failwell_rpc::Trace;
use failwell_rpc::{Direction, ExpectedResult};

use crate::controls::guards::LARGE;
use crate::controls::record_sink::RecordSink;
use crate::pipeline::Pipeline;
use crate::record::{AdmittedBody, Bodies, ExchangeOutcome, Record, Transport};
use crate::request::extension::ResponseContent;
use crate::request::scope::Exchange;
use crate::session::STDIO;
use crate::span::FinishedExchange;
use crate::stages::guard_out::effect;
use crate::stages::route::{Route, Target};

/// The number of bytes beyond the recorded part of a body that are scanned for secrets.
const MARGIN: usize = 4 * 1024;
/// Replaces a request that the custom guards have not let pass, in the record.
const WITHHELD: &str = "[withheld: the custom guards have not let it pass]";

/// Replaces a response that shows a key, in the record.
const WITHHELD_KEY: &[u8] = b"[withheld: a key]";

/// A response after its first stage.
enum RenderedReply<'a> {
    /// The response, and a record that must be awaited.
    Recorded(Option<Reply>, Option<Box<Record>>),
    Large(Box<LargeReply<'a>>),
}

/// A response that is inspected apart.
struct LargeReply<'a> {
    exchange: Exchange<'a>,
    reply: Reply,
    ended: SystemTime,
}

impl Pipeline {
    /// Ends an exchange. If records are mandatory, the response waits for its record.
    pub(crate) async fn finish(&self, exchange: Exchange<'_>) -> Option<Reply> {
        let (reply, record) = match self.ports.guards.has_custom() {
            false => match self.render_and_record(exchange) {
                RenderedReply::Recorded(reply, record) => (reply, record),
                // Boxed, as below.
                RenderedReply::Large(large) => Box::pin(self.inspect_and_record(*large)).await,
            },
            // Boxed, because this branch is rare: the future of every call stays small.
            true => Box::pin(self.render_asking_custom(exchange)).await,
        };
        match (record, self.ports.recorder.ledger()) {
            (Some(record), Some(ledger)) => Box::pin(self.keep(record, ledger, reply)).await,
            (None, Some(ledger)) if ledger.is_crowded() => {
                ledger.wait_for_space().await;
                reply
            }
            _ => reply,
        }
    }

    /// Renders and records without waiting, except for a large response.
    fn render_and_record<'a>(&self, mut exchange: Exchange<'a>) -> RenderedReply<'a> {
        let ended = SystemTime::now();
        exchange.outcome = self.throttled(exchange.outcome, exchange.caller);
        let reply = match self.render(&mut exchange, Moment::from(ended)) {
            Some(reply) if reply.body.len() > LARGE => {
                return RenderedReply::Large(Box::new(LargeReply { exchange, reply, ended }));
            }
            Some(reply) => self.guard_out(&mut exchange, reply, Moment::from(ended)),
            None => None,
        };
        let (reply, record) = self.record(exchange, reply, ended);
        RenderedReply::Recorded(reply, record)
    }

    async fn inspect_and_record(&self, large: LargeReply<'_>) -> (Option<Reply>, Option<Box<Record>>) {
        let LargeReply { mut exchange, reply, ended } = large;
        let reply = self.guard_out_apart(&mut exchange, reply, Moment::from(ended)).await;
        self.record(exchange, reply, ended)
    }

    /// Renders and records if custom guards inspect responses.
    async fn render_asking_custom(&self, mut exchange: Exchange<'_>) -> (Option<Reply>, Option<Box<Record>>) {
        let now = SystemTime::now();
        exchange.outcome = self.throttled(exchange.outcome, exchange.caller);
        let reply = match self.render(&mut exchange, Moment::from(now)) {
            Some(reply) => self.guard_out_apart(&mut exchange, reply, Moment::from(now)).await,
            None => None,
        };
        let reply = match reply {
            Some(reply) => self.guard_out_custom(&mut exchange, reply, Moment::from(now)).await,
            None => None,
        };
        self.record(exchange, reply, SystemTime::now())
    }

    /// Counts the exchange, ends its span, and creates its record. Returns a record that must be awaited.
    fn record(
        &self,
        exchange: Exchange<'_>,
        reply: Option<Reply>,
        ended: SystemTime,
    ) -> (Option<Reply>, Option<Box<Record>>) {
        let took = exchange.log.began.elapsed();
        self.ports.recorder.metrics().end(took, reply.is_some());
        let bodies = self.ports.recorder.ledger().and_then(RecordSink::bodies);
        let bodies = bodies.map(|most| self.bodies(Some(&exchange), exchange.request, reply.as_ref(), most));
        let ended_as = ended_as(exchange.outcome, exchange.to.asked);
        let (notes, route) = exchange.log.into_parts();
        let (target, verdicts) = notes.into_parts();
        let server = route.as_ref().and_then(Route::server);
        if let Some(Target::Tool(tool)) = route.as_ref().map(|route| &route.target) {
            let server = server.unwrap_or(self.server.info().name);
            self.ports.recorder.metrics().tool_calls().count(server, tool.name(), &ended_as);
        }
        let mark = exchange.trace.as_ref().map(Trace::mark);
        if let Some(trace) = exchange.trace {
            self.end_trace(
                trace,
                &FinishedExchange {
                    to: &exchange.to,
                    ended,
                    took,
                    method: exchange.method,
                    connection: exchange.connection,
                    caller: exchange.caller,
                    target: target.as_deref(),
                    server,
                    ended_as: &ended_as,
                },
            );
        }
        if let (Some(address), Some(fault)) = (exchange.refused_from, ended_as.fault())
            && self.ports.recorder.ledger().is_some_and(|ledger| !ledger.sample(address, fault.reason().id))
        {
            self.ports.recorder.metrics().fault(fault.reason());
            return (reply, None);
        }
        if let Some(fault) = ended_as.fault() {
            self.ports.recorder.report(Entry {
                trace: mark,
                at: ended,
                service: self.ports.service,
                connection: connection(exchange.connection),
                method: exchange.method.map(method),
                target: target.clone(),
                to: exchange.to.clone(),
                fault: fault.clone(),
            });
        }
        let Some(ledger) = self.ports.recorder.ledger() else { return (reply, None) };
        let record = Box::new(Record {
            to: exchange.to,
            ended,
            took,
            service: self.ports.service,
            connection: connection(exchange.connection),
            transport: transport(exchange.connection),
            caller: exchange.caller.map(|caller| caller.name().clone()),
            refused_from: exchange.refused_from,
            method: exchange.method.map(method),
            server: server.map(Box::from),
            target,
            ended_as,
            bytes_in: exchange.request.map_or(0, str::len),
            bytes_out: reply.as_ref().map_or(0, |reply| reply.body.len()),
            trace: mark,
            verdicts,
            bodies,
        });
        if ledger.is_critical() {
            return (reply, Some(record));
        }
        ledger.note(record);
        (reply, None)
    }

    /// Returns request and response for the record. The request is recorded as the guards redacted it. A
    /// custom guard that has not let it pass cannot say which part may be recorded.
    pub(crate) fn bodies(
        &self,
        exchange: Option<&Exchange<'_>>,
        request: Option<&str>,
        reply: Option<&Reply>,
        most: usize,
    ) -> Box<Bodies> {
        let is_asked = self.ports.guards.asks_in(Direction::Request);
        let let_in = exchange.map_or(AdmittedBody::No, |exchange| exchange.log.notes.admitted());
        let request = match let_in {
            AdmittedBody::Changed(clean) => clean,
            AdmittedBody::No if is_asked && request.is_some() => WITHHELD,
            AdmittedBody::No | AdmittedBody::Whole => request.unwrap_or_default(),
        };
        Box::new(Bodies {
            request: cut(request.as_bytes(), most),
            answer: match exchange.is_some_and(|exchange| exchange.response() == ResponseContent::Secret) {
                true => WITHHELD_KEY.to_vec(),
                false => cut(reply.map_or(&[], |reply| &reply.body), most),
            },
            server: exchange.map_or("", |exchange| self.guarded_server(exchange.log.route())).to_owned(),
        })
    }

    fn throttled(&self, happened: Result<Outcome, Fault>, caller: Option<&Caller>) -> Result<Outcome, Fault> {
        match caller {
            Some(caller) => {
                happened.map_err(|fault| self.ports.controls.limits.throttle_errors(fault, caller))
            }
            None => happened,
        }
    }

    fn render(&self, exchange: &mut Exchange<'_>, now: Moment) -> Option<Reply> {
        let info = Some(self.server_info.text());
        let reply = render(&exchange.to, &exchange.outcome, info, now);
        let limit = self.settings.largest_answer;
        if reply.as_ref().is_none_or(|reply| reply.body.len() <= limit) {
            return reply;
        }
        let large = Fault::new(&reason::SERVER_TOO_LARGE).fact("limit", limit);
        // The work is done, so the same request would do it again.
        let large = large.retry_as(Retry::AfterChange);
        exchange.outcome = Err(large.with_effect(effect(&exchange.to, &exchange.outcome)));
        render(&exchange.to, &exchange.outcome, info, now)
    }

    /// Awaits a mandatory record. Without the record there is no response.
    async fn keep(
        &self,
        record: Box<Record>,
        ledger: &dyn RecordSink,
        reply: Option<Reply>,
    ) -> Option<Reply> {
        // A request that was refused for lack of a record had no effect, and its response says so.
        let refused = record.ended_as.fault().is_some_and(|fault| *fault.reason() == reason::AUDIT_FAILED);
        let (method, target, connection) =
            (record.method.clone(), record.target.clone(), record.connection.clone());
        let (to, service, trace) = (record.to.clone(), record.service, record.trace);
        match ledger.keep(record).await {
            Err(fault) if !refused => {
                let happened = Err(fault);
                let at = SystemTime::now();
                let reply = render(&to, &happened, None, Moment::from(at));
                let lost = || Fault::new(&reason::AUDIT_FAILED).with_effect(Effect::Unknown);
                let fault = Arc::new(happened.err().unwrap_or_else(lost));
                self.ports.recorder.report(Entry {
                    at,
                    service,
                    connection,
                    method,
                    target,
                    to,
                    trace,
                    fault,
                });
                reply
            }
            Ok(()) | Err(_) => reply,
        }
    }
}

pub(crate) fn ended_as(happened: Result<Outcome, Fault>, asked: ExpectedResult) -> ExchangeOutcome {
    match happened {
        Err(fault)
            if asked != ExpectedResult::Other
                && failwell_render::codes::shown_to_the_model(fault.reason()) =>
        {
            ExchangeOutcome::ToolFault(Arc::new(fault))
        }
        Err(fault) => ExchangeOutcome::Fault(Arc::new(fault)),
        Ok(Outcome::ToolFailed(failure)) => ExchangeOutcome::ToolFault(Arc::new(failure.fault)),
        Ok(Outcome::ReportedFailure(failure)) => ExchangeOutcome::ToolFailed(Arc::new(failure.fault)),
        Ok(_) => ExchangeOutcome::Succeeded,
    }
}

pub(crate) fn transport(connection: &str) -> Transport {
    if connection == STDIO { Transport::Stdio } else { Transport::Http }
}

pub(crate) fn connection(name: &str) -> Cow<'static, str> {
    match name {
        "" => Cow::Borrowed(""),
        STDIO => Cow::Borrowed(STDIO),
        other => Cow::Owned(other.to_owned()),
    }
}

/// Well-known methods need no copy.
pub(crate) fn method(name: &str) -> Cow<'static, str> {
    const KNOWN: [&str; 16] = [
        "tools/call",
        "tools/list",
        "ping",
        "initialize",
        "server/discover",
        "resources/read",
        "resources/list",
        "prompts/get",
        "prompts/list",
        "tasks/get",
        "completion/complete",
        "subscriptions/listen",
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/progress",
        "notifications/roots/list_changed",
    ];
    let known = KNOWN.into_iter().find(|known| *known == name);
    known.map_or_else(|| Cow::Owned(name.to_owned()), Cow::Borrowed)
}

/// Cuts a body slightly beyond the recorded part, so that a secret at the edge is seen whole.
fn cut(bytes: &[u8], most: usize) -> Vec<u8> {
    bytes.get(..most.saturating_add(MARGIN)).unwrap_or(bytes).to_vec()
}
