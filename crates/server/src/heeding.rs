//! Notices from clients: nothing is ever answered, and each is written down.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use failwell_audit::{Ended, Record};
use failwell_fault::Ref;
use failwell_policy::Caller;
use failwell_rpc::{Era, Face, Notification, Raw, ReplyTo};

use crate::asking::Asking;
use crate::client::Client;
use crate::close::{connection, method, transport};
use crate::context::{Context, Surroundings};
use crate::guarding::Whose;
use crate::house::House;
use crate::passing::Passing;
use crate::recorder::Recorder;
use crate::session::{Concern, Session};

const INITIALIZED: &str = "notifications/initialized";
const CANCELLED: &str = "notifications/cancelled";
const PROGRESS: &str = "notifications/progress";
const ROOTS_CHANGED: &str = "notifications/roots/list_changed";

impl House {
    /// A notice within a session.
    pub async fn heed(self: &Arc<Self>, notification: &Notification<'_>, session: &Arc<Session>) -> Concern {
        let concern = self.obey(notification, session).await;
        self.jot_down(notification, Face::Mcp(session.revision()), &session.caller, &session.id).await;
        let is_dropped = match &*notification.method {
            INITIALIZED | CANCELLED | ROOTS_CHANGED => false,
            PROGRESS => concern == Concern::Others,
            _ => true,
        };
        if is_dropped {
            self.books.metrics().disregard();
        }
        concern
    }

    /// Does what a notice says. Another node has written down that it came.
    pub async fn obey(self: &Arc<Self>, notification: &Notification<'_>, session: &Arc<Session>) -> Concern {
        match &*notification.method {
            CANCELLED => match notification.param("requestId").and_then(Raw::as_id) {
                Some(id) => session.cancel(&id),
                None => Concern::Ours,
            },
            PROGRESS => self.pass_progress(notification, session).await,
            INITIALIZED => {
                session.finish_introduction();
                Concern::Ours
            }
            ROOTS_CHANGED => {
                if let Some(cx) = self.beside_requests(session) {
                    self.room.roots_changed(cx);
                }
                // Upstreams this client uses may be another node's.
                Concern::Others
            }
            _ => Concern::Ours,
        }
    }

    /// How far the answer to a question of ours is, for whoever asked it. More than they can take is dropped.
    async fn pass_progress(&self, notification: &Notification<'_>, session: &Arc<Session>) -> Concern {
        let token = notification.param("progressToken").and_then(Raw::as_u64);
        let follower = token.and_then(|token| session.follower(token));
        let (Some(follower), Some(params)) = (follower, notification.params) else { return Concern::Others };
        let whose = Whose { connection: &session.id, caller: session.caller.name(), ..Whose::default() };
        if let Ok(clean) = self.porter.incoming(whose, params.text()).await {
            let _ = follower.try_send(clean.unwrap_or_else(|| params.to_json()));
        }
        Concern::Ours
    }

    /// A session by itself, outside of any request; `None` where the client can be told and asked within requests alone.
    pub(crate) fn beside_requests(self: &Arc<Self>, session: &Arc<Session>) -> Option<Context> {
        self.beside(session, session.client()?, Asking::Session(session.clone()))
    }

    /// The same for a client that introduces itself just now, as somebody who can do this.
    pub(crate) fn beside_introduction(
        self: &Arc<Self>,
        session: &Arc<Session>,
        client: &Client,
    ) -> Option<Context> {
        self.beside(session, client, Asking::Introducing(session.clone()))
    }

    fn beside(self: &Arc<Self>, session: &Arc<Session>, client: &Client, asking: Asking) -> Option<Context> {
        let log_level = Some(session.log_level());
        let around = || Surroundings { log_level, asking, ..self.around_client(session, client) };
        (client.revision.era() == Era::Session).then(around).map(Context::new)
    }

    /// What surrounds a session outside of any request: nobody is asked, no log is wanted, and no server is meant. `None`
    /// before its client said who it is.
    pub(crate) fn around(self: &Arc<Self>, session: &Arc<Session>) -> Option<Surroundings> {
        Some(self.around_client(session, session.client()?))
    }

    fn around_client(self: &Arc<Self>, session: &Arc<Session>, client: &Client) -> Surroundings {
        Surroundings {
            client: client.clone(),
            session: Some(session.clone()),
            reference: Ref::fresh(),
            cancel: session.ended.child_token(),
            outlet: session.outbound.clone(),
            server: String::new(),
            progress: None,
            log_level: None,
            asking: Asking::Nobody,
            recorder: Recorder(self.clone()),
            passing: Passing::default(),
            trace: None,
        }
    }

    /// Writes down a notice that is about nothing here.
    pub async fn overhear(&self, notification: &Notification<'_>, face: Face, caller: &Caller, on: &str) {
        self.books.metrics().disregard();
        self.jot_down(notification, face, caller, on).await;
    }

    /// Writes down a notice. Does not wait for the record, not even where one is promised: there is no answer that could
    /// wait. Only a flood of notices is slowed down, before it pushes out the records of others.
    async fn jot_down(&self, notification: &Notification<'_>, face: Face, caller: &Caller, on: &str) {
        let Some(ledger) = self.books.ledger() else { return };
        if ledger.is_crowded() {
            Box::pin(ledger.room()).await;
        }
        let text = notification.text();
        ledger.note(Box::new(Record {
            to: ReplyTo::misread(None, face),
            ended: SystemTime::now(),
            took: Duration::ZERO,
            service: self.room.info().name,
            connection: connection(on),
            transport: transport(on),
            caller: Some(caller.name().clone()),
            method: Some(method(&notification.method)),
            target: None,
            trace: None,
            server: None,
            ended_as: Ended::Well,
            bytes_in: text.len(),
            bytes_out: 0,
            verdicts: Vec::new(),
            bodies: ledger.bodies().map(|most| self.bodies(None, Some(text), None, most)),
        }));
    }
}
