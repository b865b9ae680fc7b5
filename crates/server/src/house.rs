//! One tool server with everything that stands around it, and the walk of one message through it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use failwell_audit::{Entry, Journal};
use failwell_fault::{Fault, OrFault, reason};
use failwell_policy::{Caller, Limiter};
use failwell_render::{Moment, Outcome, Reply, codes, render};
use failwell_rpc::{
    About, Asked, Face, Incoming, Json, Limits, Message, Misread, Notification, Raw, ReplyTo, Revision, read,
};
use futures_util::FutureExt;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::arrival::{Arrival, Meta};
use crate::call::Call;
use crate::client::Client;
use crate::guarding::{Gate, Porter, Whose};
use crate::hub::Hub;
use crate::listen::tell_session;
use crate::metrics::{Metrics, Sightings};
use crate::panic::fault_of;
use crate::room::Room;
use crate::seal::Seal;
use crate::session::Session;
use crate::settings::{Settings, ToolFailures};
use crate::task::Tasks;

/// The house around one tool server.
pub struct House {
    pub(crate) room: Arc<dyn Room>,
    pub(crate) settings: Settings,
    pub(crate) hub: Hub,
    pub(crate) tasks: Arc<Tasks>,
    pub(crate) seal: Seal,
    pub(crate) slots: Semaphore,
    pub(crate) listeners: Semaphore,
    pub(crate) porter: Arc<Porter>,
    limiter: Option<Limiter>,
    journal: Journal,
    metrics: Metrics,
    server_info: Json,
    closing: CancellationToken,
}

/// What happened to one message, on its way to becoming bytes.
pub struct Exchange<'a> {
    /// Where the answer goes.
    pub to: ReplyTo,
    /// What it came to.
    pub happened: Result<Outcome, Fault>,
    /// When it began.
    pub began: Instant,
    /// Which method was asked for, if it could be read.
    pub method: Option<&'a str>,
    /// Which connection it came in on.
    pub connection: &'a str,
    /// Which server it was for, where guards tell servers apart.
    pub server: String,
}

impl House {
    /// Builds a house around a tool server.
    pub fn new(room: Arc<dyn Room>, settings: Settings, journal: Journal) -> Result<Arc<House>, Fault> {
        let hub = Hub::new();
        let info = room.info();
        let gate = settings.gate.clone().map_or_else(Gate::standard, Ok)?;
        let porter =
            Porter { gate, journal: journal.clone(), service: info.name, sightings: Sightings::default() };
        let described = json!({"name": info.name, "title": info.title, "version": info.version});
        Ok(Arc::new(House {
            server_info: Json::of(&described).or_fault(&reason::SERVER_BUG)?,
            tasks: Arc::new(Tasks::new(hub.clone())),
            slots: Semaphore::new(settings.most_in_flight),
            listeners: Semaphore::new(settings.most_listeners),
            limiter: settings.rate.map(Limiter::new),
            seal: Seal::fresh()?,
            porter: Arc::new(porter),
            metrics: Metrics::default(),
            closing: CancellationToken::new(),
            room,
            settings,
            hub,
            journal,
        }))
    }

    /// The walk: one request in, one answer out, or silence.
    pub async fn walk(self: &Arc<Self>, arrival: Arrival<'_>) -> Option<Reply> {
        let began = self.begin();
        let mut to = ReplyTo::request(arrival.request.id.clone(), Face::Mcp(arrival.revision()));
        let serving = AssertUnwindSafe(self.serve(&arrival, &mut to)).catch_unwind();
        let happened = serving.await.unwrap_or_else(|payload| Err(fault_of(payload.as_ref())));
        let (method, connection) = (Some(&*arrival.request.method), arrival.connection());
        let server = self.server_of(&arrival.request);
        self.close(Exchange { to, happened, began, method, connection, server })
    }

    async fn serve(self: &Arc<Self>, arrival: &Arrival<'_>, to: &mut ReplyTo) -> Result<Outcome, Fault> {
        let _running = arrival.register()?;
        arrival.is_of(self.settings.only)?;
        let said = Meta::of(&arrival.request);
        let client = arrival.introduce(&said)?;
        let call = Call::read(&arrival.request, client.revision, self.room.offers())?;
        to.asked = match (call.asked(), self.settings.tool_failures) {
            (Asked::Tool, ToolFailures::Error) => Asked::ToolOrError,
            (asked, _) => asked,
        };
        self.admit(&client.caller)?;
        let server = self.server_of(&arrival.request);
        let whose = Whose { server: &server, to: Some(to), connection: arrival.connection() };
        match self.let_in(&arrival.request, whose)? {
            None => self.work(call, client, arrival, &said, to).await,
            // Rare and large, so kept apart.
            Some(clean) => Box::pin(self.serve_clean(&clean, client, arrival, to)).await,
        }
    }

    /// A request from which something was taken out, read anew.
    async fn serve_clean(
        self: &Arc<Self>,
        clean: &str,
        client: Client,
        arrival: &Arrival<'_>,
        to: &ReplyTo,
    ) -> Result<Outcome, Fault> {
        let Incoming::One(Ok(Message::Request(request))) = read(clean.as_bytes(), &Limits::default()) else {
            return Err(Fault::new(&reason::SERVER_BUG).note("guard", "a redacted request cannot be read"));
        };
        let arrival = Arrival {
            request,
            spoken: arrival.spoken,
            caller: arrival.caller,
            session: arrival.session,
            ids: arrival.ids,
            outlet: arrival.outlet.clone(),
            cancel: arrival.cancel.clone(),
        };
        let said = Meta::of(&arrival.request);
        let call = Call::read(&arrival.request, client.revision, self.room.offers())?;
        self.work(call, client, &arrival, &said, to).await
    }

    /// Policy on the way in: is there room, and is it this caller's turn.
    pub(crate) fn admit(&self, caller: &Caller) -> Result<(), Fault> {
        if self.closing.is_cancelled() {
            return Err(Fault::new(&reason::SERVER_SHUTDOWN));
        }
        self.limiter.as_ref().map_or(Ok(()), |limiter| limiter.take(caller, Instant::now()))
    }

    /// A message begins.
    pub fn begin(&self) -> Instant {
        self.metrics.begin();
        Instant::now()
    }

    /// The end of every walk: count it, write it down, turn it into bytes.
    pub fn close(&self, exchange: Exchange<'_>) -> Option<Reply> {
        let now = Moment::now();
        let mut exchange = exchange;
        let mut reply = render(&exchange.to, &exchange.happened, Some(self.server_info.text()), now);
        let limit = self.settings.largest_answer;
        if reply.as_ref().is_some_and(|reply| reply.body.len() > limit) {
            exchange.happened = Err(Fault::new(&reason::SERVER_TOO_LARGE).fact("limit", limit));
            reply = render(&exchange.to, &exchange.happened, Some(self.server_info.text()), now);
        }
        let reply = reply.and_then(|reply| self.let_out(&mut exchange, reply, now));
        match &exchange.happened {
            Err(fault) => self.record(fault, &exchange.to, exchange.method, exchange.connection, now),
            Ok(Outcome::ToolFailed(failure)) => {
                self.record(&failure.fault, &exchange.to, exchange.method, exchange.connection, now);
            }
            Ok(_) => {}
        }
        self.metrics.end(exchange.began.elapsed(), reply.is_some());
        reply
    }

    /// One failure, for the operator.
    pub(crate) fn record(
        &self,
        fault: &Fault,
        to: &ReplyTo,
        method: Option<&str>,
        connection: &str,
        now: Moment,
    ) {
        self.metrics.fault(fault.reason());
        let entry = Entry {
            timestamp: &now.to_string(),
            service: self.room.info().name,
            connection,
            method,
            code: match to.asked {
                Asked::ToolOrError if codes::shown_to_the_model(fault.reason()) => {
                    codes::tool_error(fault.reason())
                }
                _ => codes::answer(fault.reason(), to.face).code,
            },
            to,
            fault,
        };
        self.journal.write(self.porter.gate.scrub(entry.line(self.journal.style())));
    }

    /// Something that went wrong outside any request, for the operator alone.
    pub fn note(&self, fault: &Fault, doing: &str) {
        let to = ReplyTo::misread(None, Face::Mcp(Revision::LATEST));
        self.record(fault, &to, Some(doing), "", Moment::now());
    }

    /// Bytes that were no message. A broken answer is never answered: its id is one of ours.
    pub fn misread(&self, misread: Misread, face: Face, connection: &str) -> Option<Reply> {
        let mut to = ReplyTo::misread(misread.id, face);
        if misread.about == About::Answer {
            to.wants = failwell_rpc::Wants::Silence;
        }
        self.refuse(misread.fault, to, connection)
    }

    /// A message that is answered before it is looked at.
    pub fn refuse(&self, fault: Fault, to: ReplyTo, connection: &str) -> Option<Reply> {
        let began = self.begin();
        let server = String::new();
        self.close(Exchange { to, happened: Err(fault), began, method: None, connection, server })
    }

    /// A notice from the client. Nothing is ever answered.
    pub fn heed(&self, notification: &Notification<'_>, session: Option<&Arc<Session>>) {
        if let ("notifications/cancelled", Some(session)) = (&*notification.method, session) {
            let id = notification.param("requestId").and_then(Raw::as_id);
            if let Some(id) = id {
                session.cancel(&id);
            }
        }
    }

    /// Keeps a session told of changes, until it ends.
    pub fn keep_told(&self, session: &Arc<Session>) {
        tokio::spawn(tell_session(session.clone(), self.hub.clone(), self.porter.clone()));
    }

    /// Where changes are announced.
    pub fn hub(&self) -> &Hub {
        &self.hub
    }

    /// The numbers so far.
    pub fn metrics(&self) -> String {
        self.metrics.text(self.journal.lost(), &self.porter.sightings) + &self.room.metrics()
    }

    /// The journal.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The tool server.
    pub fn room(&self) -> &Arc<dyn Room> {
        &self.room
    }

    /// From now on new requests are turned away and subscriptions end; running requests go on.
    pub fn close_doors(&self) {
        self.closing.cancel();
    }

    /// Set once the doors are closed.
    pub fn closing(&self) -> &CancellationToken {
        &self.closing
    }
}
