//! The end of every walk: turn it into bytes, count it, write it down.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use failwell_audit::{Bodies, Done, Ended, Entry, Ledger, LetIn, Record, Trace, Transport, failed};
use failwell_fault::{Fault, reason};
use failwell_policy::Caller;
use failwell_policy::guard::Direction;
use failwell_render::{Moment, Outcome, Reply, render};
use failwell_rpc::{Asked, ReplyTo};

use crate::house::{Exchange, House};
use crate::session::STDIO;
use crate::tracing::Over;

/// How much more than is kept of a body is looked through for secrets.
const MARGIN: usize = 4 * 1024;
/// What is kept of a request that the custom guards have not let pass.
const WITHHELD: &str = "[withheld: the custom guards have not let it pass]";

/// What is kept of an answer that shows a key.
const WITHHELD_KEY: &[u8] = b"[withheld: a key]";

impl House {
    /// The end of every walk. Where a record is promised, the answer waits for it.
    pub async fn close(&self, exchange: Exchange<'_>) -> Option<Reply> {
        let (reply, record) = match self.porter.has_customs() {
            false => self.settle(exchange),
            // Rare and large, so kept apart: what every request is made of stays small.
            true => Box::pin(self.settle_asking(exchange)).await,
        };
        match (record, self.books.ledger()) {
            (Some(record), Some(ledger)) => Box::pin(self.keep(record, ledger, reply)).await,
            (None, Some(ledger)) if ledger.is_crowded() => {
                Box::pin(ledger.room()).await;
                reply
            }
            _ => reply,
        }
    }

    /// Everything but waiting. A record that must be waited for comes back.
    fn settle(&self, mut exchange: Exchange<'_>) -> (Option<Reply>, Option<Box<Record>>) {
        let ended = SystemTime::now();
        exchange.happened = self.tempered(exchange.happened, exchange.caller);
        let reply = self.answer(&mut exchange, Moment::from(ended));
        self.book(exchange, reply, ended)
    }

    /// The same where custom guards look at answers.
    async fn settle_asking(&self, mut exchange: Exchange<'_>) -> (Option<Reply>, Option<Box<Record>>) {
        let now = SystemTime::now();
        exchange.happened = self.tempered(exchange.happened, exchange.caller);
        let reply = match self.answer(&mut exchange, Moment::from(now)) {
            Some(reply) => self.let_out_asking(&mut exchange, reply, Moment::from(now)).await,
            None => None,
        };
        self.book(exchange, reply, SystemTime::now())
    }

    /// Counts and writes down what is over.
    fn book(
        &self,
        exchange: Exchange<'_>,
        reply: Option<Reply>,
        ended: SystemTime,
    ) -> (Option<Reply>, Option<Box<Record>>) {
        let took = exchange.began.elapsed();
        self.books.metrics().end(took, reply.is_some());
        let bodies = self.books.ledger().and_then(Ledger::bodies);
        let bodies = bodies.map(|most| self.bodies(Some(&exchange), exchange.request, reply.as_ref(), most));
        let ended_as = ended_as(exchange.happened, exchange.to.asked);
        let (target, verdicts) = exchange.trail.into_parts();
        let is_told = self.books.ledger().is_some() || exchange.trace.is_some();
        let server = target.as_deref().filter(|_| is_told).and_then(|target| self.room.behind(target));
        let mark = exchange.trace.as_ref().map(Trace::mark);
        if let Some(trace) = exchange.trace {
            self.end_trace(
                trace,
                &Over {
                    to: &exchange.to,
                    ended,
                    took,
                    method: exchange.method,
                    connection: exchange.connection,
                    caller: exchange.caller,
                    target: target.as_deref(),
                    server: server.as_deref(),
                    ended_as: &ended_as,
                },
            );
        }
        if let Some(fault) = ended_as.fault() {
            self.tell(Entry {
                trace: mark,
                at: ended,
                service: self.room.info().name,
                connection: connection(exchange.connection),
                method: exchange.method.map(method),
                target: target.clone(),
                to: exchange.to.clone(),
                fault: fault.clone(),
            });
        }
        let Some(ledger) = self.books.ledger() else { return (reply, None) };
        let record = Box::new(Record {
            to: exchange.to,
            ended,
            took,
            service: self.room.info().name,
            connection: connection(exchange.connection),
            transport: transport(exchange.connection),
            caller: exchange.caller.map(|caller| caller.name().clone()),
            method: exchange.method.map(method),
            server,
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

    /// What came in and went out, for the record. What came in is what the guards left of it: one that was asked and did
    /// not let it pass cannot say which part of it may be kept.
    pub(crate) fn bodies(
        &self,
        exchange: Option<&Exchange<'_>>,
        request: Option<&str>,
        reply: Option<&Reply>,
        most: usize,
    ) -> Box<Bodies> {
        let is_asked = self.porter.asks_in(Direction::Request);
        let let_in = exchange.map_or(LetIn::No, |exchange| exchange.trail.was_let_in());
        let request = match let_in {
            LetIn::Changed(clean) => clean,
            LetIn::No if is_asked && request.is_some() => WITHHELD,
            LetIn::No | LetIn::Whole => request.unwrap_or_default(),
        };
        Box::new(Bodies {
            request: cut(request.as_bytes(), most),
            answer: match exchange.is_some_and(Exchange::shows_a_key) {
                true => WITHHELD_KEY.to_vec(),
                false => cut(reply.map_or(&[], |reply| &reply.body), most),
            },
            server: exchange.map_or_else(String::new, |exchange| exchange.server.clone()),
        })
    }

    fn tempered(&self, happened: Result<Outcome, Fault>, caller: Option<&Caller>) -> Result<Outcome, Fault> {
        match caller {
            Some(caller) => happened.map_err(|fault| self.settings.turnstile.temper(fault, caller)),
            None => happened,
        }
    }

    fn answer(&self, exchange: &mut Exchange<'_>, now: Moment) -> Option<Reply> {
        let info = Some(self.server_info.text());
        let reply = render(&exchange.to, &exchange.happened, info, now);
        let limit = self.settings.largest_answer;
        let reply = if reply.as_ref().is_none_or(|reply| reply.body.len() <= limit) {
            reply
        } else {
            exchange.happened = Err(Fault::new(&reason::SERVER_TOO_LARGE).fact("limit", limit));
            render(&exchange.to, &exchange.happened, info, now)
        };
        self.let_out(exchange, reply?, now)
    }

    /// No record, no answer.
    async fn keep(&self, record: Box<Record>, ledger: &Ledger, reply: Option<Reply>) -> Option<Reply> {
        // A refusal for want of a record stays one: nothing was done, and the answer says so.
        let refused = record.ended_as.fault().is_some_and(|fault| *fault.reason() == reason::AUDIT_FAILED);
        let (method, target, connection) =
            (record.method.clone(), record.target.clone(), record.connection.clone());
        let (to, service, trace) = (record.to.clone(), record.service, record.trace);
        match ledger.keep(record).await {
            Err(fault) if !refused => {
                let happened = Err(fault);
                let at = SystemTime::now();
                let reply = render(&to, &happened, None, Moment::from(at));
                let fault = Arc::new(happened.err().unwrap_or_else(|| failed(Done::Perhaps)));
                self.tell(Entry { at, service, connection, method, target, to, trace, fault });
                reply
            }
            Ok(()) | Err(_) => reply,
        }
    }

    /// One failure, for the operator.
    fn tell(&self, entry: Entry) {
        self.books.metrics().fault(entry.fault.reason());
        self.books.journal().fault(entry);
    }

    /// A failure that ends no exchange: of a task after its request was answered, or of no request at all.
    pub(crate) fn record(&self, ended_as: Ended, to: ReplyTo, doing: &'static str, connection: &'static str) {
        let Some(fault) = ended_as.fault().cloned() else { return };
        let (ended, service) = (SystemTime::now(), self.room.info().name);
        let (connection, method) = (Cow::Borrowed(connection), Some(Cow::Borrowed(doing)));
        self.tell(Entry {
            at: ended,
            service,
            connection: connection.clone(),
            method: method.clone(),
            target: None,
            to: to.clone(),
            trace: None,
            fault,
        });
        let Some(ledger) = self.books.ledger() else { return };
        ledger.note(Box::new(Record {
            to,
            ended,
            took: Duration::ZERO,
            service,
            connection,
            transport: Transport::Http,
            caller: None,
            method,
            target: None,
            server: None,
            ended_as,
            bytes_in: 0,
            bytes_out: 0,
            trace: None,
            verdicts: Vec::new(),
            bodies: None,
        }));
    }
}

pub(crate) fn ended_as(happened: Result<Outcome, Fault>, asked: Asked) -> Ended {
    match happened {
        Err(fault) if asked != Asked::Other && failwell_render::codes::shown_to_the_model(fault.reason()) => {
            Ended::ToolFault(Arc::new(fault))
        }
        Err(fault) => Ended::Fault(Arc::new(fault)),
        Ok(Outcome::ToolFailed(failure)) => Ended::ToolFault(Arc::new(failure.fault)),
        Ok(Outcome::ReportedFailure(failure)) => Ended::ToolFailed(Arc::new(failure.fault)),
        Ok(_) => Ended::Well,
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

/// Methods everybody knows need no copy.
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

/// A little more than is kept, so that a secret at the edge is still seen whole.
fn cut(bytes: &[u8], most: usize) -> Vec<u8> {
    bytes.get(..most.saturating_add(MARGIN)).unwrap_or(bytes).to_vec()
}
