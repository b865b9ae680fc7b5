//! One tool server with everything that stands around it, and the walk of one message through it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use failwell_audit::{Ended, Journal, Trace, Trail};
use failwell_fault::{Fault, OrFault, reason};
use failwell_policy::Caller;
use failwell_render::{Outcome, Reply};
use failwell_rpc::{About, Asked, Face, Incoming, Json, Limits, Message, Misread, ReplyTo, Revision, read};
use futures_util::FutureExt;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::arrival::{Arrival, Meta};
use crate::books::Books;
use crate::call::Call;
use crate::client::Client;
use crate::guarding::{Gate, Porter, Watched, Whose};
use crate::hub::Hub;
use crate::listen::tell_session;
use crate::metrics::Sightings;
use crate::numbers::Numbers;
use crate::panic::fault_of_panic;
use crate::room::Room;
use crate::seal::Seal;
use crate::session::Session;
use crate::settings::{Settings, ToolFailures};
use crate::shelved::Shelved;
use crate::slots::Slots;
use crate::task::Tasks;
use crate::turnstile::Passage;

/// The house around one tool server.
pub struct House {
    pub(crate) room: Arc<dyn Room>,
    pub(crate) settings: Settings,
    pub(crate) hub: Hub,
    pub(crate) tasks: Arc<Tasks>,
    pub(crate) seal: Seal,
    pub(crate) slots: Slots,
    pub(crate) listeners: Slots,
    pub(crate) porter: Arc<Porter>,
    pub(crate) books: Books,
    pub(crate) server_info: Json,
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
    /// Who sent it, if that is known.
    pub caller: Option<&'a Caller>,
    /// The message itself, if it could be read.
    pub request: Option<&'a str>,
    /// What was learnt on the way.
    pub trail: Trail,
    /// Which trace it was part of, where traces are kept.
    pub trace: Option<Trace>,
}

impl<'a> Exchange<'a> {
    /// Whether the answer is a new key, which its maker sees this once: no guard takes it out, and no book keeps it.
    pub(crate) fn shows_a_key(&self) -> bool {
        self.method == Some(crate::own::MAKES_KEY) && self.happened.is_ok()
    }

    /// A message that is answered before it is looked at.
    pub fn refused(fault: Fault, to: ReplyTo, began: Instant, connection: &'a str) -> Exchange<'a> {
        Exchange {
            to,
            happened: Err(fault),
            began,
            method: None,
            connection,
            caller: None,
            request: None,
            server: String::new(),
            trail: Trail::default(),
            trace: None,
        }
    }
}

impl House {
    /// Builds a house around a tool server.
    pub fn new(
        room: Arc<dyn Room>,
        settings: Settings,
        books: impl Into<Books>,
    ) -> Result<Arc<House>, Fault> {
        let hub = Hub::new();
        let room = match settings.shelf.clone() {
            Some(desk) => Arc::new(Shelved { room, desk, largest_answer: settings.largest_answer }) as _,
            None => room,
        };
        let info = room.info();
        let gate = settings.gate.clone().map_or_else(Gate::standard, Ok)?;
        let books = books.into().redacting(gate.redactor());
        let porter = Porter {
            gate,
            journal: books.journal().clone(),
            service: info.name,
            sightings: Sightings::default(),
        };
        let described = json!({"name": info.name, "title": info.title, "version": info.version});
        let house = Arc::new(House {
            server_info: Json::of(&described).or_fault(&reason::SERVER_BUG)?,
            tasks: Arc::new(Tasks::new(hub.clone())),
            slots: Slots::new(settings.most_in_flight),
            listeners: Slots::new(settings.most_listeners),
            porter: Arc::new(porter),
            seal: match &settings.seal_key {
                Some(key) => Seal::shared(key, &settings.house),
                None => Seal::fresh()?,
            },
            closing: CancellationToken::new(),
            room,
            settings,
            hub,
            books,
        });
        house.follow_shelf();
        Ok(house)
    }

    /// The walk: one request in, one answer out, or silence.
    pub async fn walk(self: &Arc<Self>, arrival: &Arrival<'_>) -> Option<Reply> {
        let began = self.begin();
        let server = self.server_of(&arrival.request, arrival.caller);
        let mut to = ReplyTo::request(arrival.request.id.clone(), Face::Mcp(arrival.revision()));
        let trail = Trail::default();
        let watched = Watched { trail: &trail, began, server: &server };
        let serving = AssertUnwindSafe(self.serve(arrival, &mut to, watched)).catch_unwind();
        let happened = serving.await.unwrap_or_else(|payload| Err(fault_of_panic(payload.as_ref())));
        let server = self.server_found(server, &trail);
        let (method, connection) = (Some(&*arrival.request.method), arrival.connection());
        let (caller, request) = (Some(arrival.caller), Some(arrival.request.text()));
        let trace = arrival.trace.clone();
        let exchange =
            Exchange { to, happened, began, method, connection, server, caller, request, trail, trace };
        self.close(exchange).await
    }

    async fn serve(
        self: &Arc<Self>,
        arrival: &Arrival<'_>,
        to: &mut ReplyTo,
        watched: Watched<'_>,
    ) -> Result<Outcome, Fault> {
        let _running = arrival.register()?;
        arrival.is_of(self.settings.only)?;
        let said = Meta::of(&arrival.request);
        let client = arrival.introduce(&said)?;
        let call = Call::read(&arrival.request, client.revision, self.room.offers())?;
        if let Some(target) = call.target() {
            watched.trail.aim(target);
        }
        to.asked = match (call.asked(), self.settings.tool_failures) {
            (Asked::Tool, ToolFailures::Error) => Asked::ToolOrError,
            (asked, _) => asked,
        };
        let _passage = self.admit(&client.caller).await?;
        let whose = Whose {
            server: watched.server,
            to: Some(to),
            connection: arrival.connection(),
            watched: Some(watched),
            ..Whose::default()
        };
        let clean = match self.porter.has_customs() {
            false => self.let_in(&arrival.request, whose),
            // Rare and large, so kept apart: what every request is made of stays small.
            true => {
                let aim = self.aim(Some(&arrival.request.method), call.target(), Some(arrival.caller));
                let (method, caller) = (&*arrival.request.method, &**arrival.caller.name());
                let whose = aim.of(Whose { method, caller, ..whose });
                Box::pin(self.let_in_asking(&arrival.request, whose)).await
            }
        };
        match clean? {
            None => self.work(call, client, arrival, &said, to, watched).await,
            // Rare and large, so kept apart.
            Some(clean) => Box::pin(self.serve_clean(&clean, client, arrival, to, watched)).await,
        }
    }

    /// A request from which something was taken out, read anew.
    async fn serve_clean(
        self: &Arc<Self>,
        clean: &str,
        client: Client,
        arrival: &Arrival<'_>,
        to: &ReplyTo,
        watched: Watched<'_>,
    ) -> Result<Outcome, Fault> {
        let Incoming::One(Ok(Message::Request(request))) = read(clean.as_bytes(), &Limits::default()) else {
            return Err(Fault::new(&reason::SERVER_BUG).note("guard", "a redacted request cannot be read"));
        };
        let arrival = Arrival {
            request,
            spoken: arrival.spoken,
            caller: arrival.caller,
            session: arrival.session,
            connection: arrival.connection,
            ids: arrival.ids,
            outlet: arrival.outlet.clone(),
            cancel: arrival.cancel.clone(),
            trace: arrival.trace.clone(),
        };
        let said = Meta::of(&arrival.request);
        let call = Call::read(&arrival.request, client.revision, self.room.offers())?;
        self.work(call, client, &arrival, &said, to, watched).await
    }

    /// Policy on the way in: is there room, can it be written down, and is it this caller's turn.
    pub(crate) async fn admit(&self, caller: &Caller) -> Result<Passage, Fault> {
        if self.closing.is_cancelled() {
            return Err(Fault::new(&reason::SERVER_SHUTDOWN));
        }
        self.books.admit()?;
        self.settings.turnstile.enter(caller, self.settings.state.as_ref()).await
    }

    /// A caller's turn to call a tool: `server__tool`, with the server's own name of it.
    pub(crate) async fn admit_call(&self, caller: &Caller, tool: &str) -> Result<Passage, Fault> {
        self.settings.turnstile.call(caller, tool, self.settings.state.as_ref()).await
    }

    /// A message begins.
    pub fn begin(&self) -> Instant {
        self.books.metrics().begin();
        Instant::now()
    }

    /// Something that went wrong outside any request, for the operator alone.
    pub fn note(&self, fault: Fault, doing: &'static str) {
        let to = ReplyTo::misread(None, Face::Mcp(Revision::LATEST));
        self.record(Ended::Fault(Arc::new(fault)), to, doing, "");
    }

    /// Bytes that were no message. A broken answer is never answered: its id is one of ours.
    pub async fn misread(
        &self,
        misread: Misread,
        face: Face,
        connection: &str,
        caller: Option<&Caller>,
    ) -> Option<Reply> {
        let mut to = ReplyTo::misread(misread.id, face);
        if misread.about == About::Answer {
            to.wants = failwell_rpc::Wants::Silence;
        }
        let refused = Exchange::refused(misread.fault, to, self.begin(), connection);
        self.close(Exchange { caller, ..refused }).await
    }

    /// A message that is answered before it is looked at.
    pub async fn refuse(&self, fault: Fault, to: ReplyTo, connection: &str) -> Option<Reply> {
        self.close(Exchange::refused(fault, to, self.begin(), connection)).await
    }

    /// Keeps a session told of changes, until it ends.
    pub fn keep_told(&self, session: &Arc<Session>) {
        let shelf = self.settings.shelf.clone();
        tokio::spawn(tell_session(session.clone(), self.hub.clone(), self.porter.clone(), shelf));
    }

    /// Where changes are announced.
    pub fn hub(&self) -> &Hub {
        &self.hub
    }

    /// The numbers so far.
    pub fn metrics(&self) -> String {
        let mut out = Numbers::default();
        self.books.write_numbers(&mut out, self.settings.turnstile.buckets(), &self.porter.sightings);
        self.porter.gate.customs().write_numbers(&mut out);
        self.room.metrics(&mut out);
        out.into_text()
    }

    /// The journal.
    pub fn journal(&self) -> &Journal {
        self.books.journal()
    }

    /// Everything that is written down.
    pub fn books(&self) -> &Books {
        &self.books
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
