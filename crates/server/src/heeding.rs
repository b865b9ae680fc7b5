//! Notices from clients: nothing is ever answered, and each is written down.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use failwell_audit::{Ended, Record};
use failwell_policy::Caller;
use failwell_rpc::{Face, Notification, Raw, ReplyTo};

use crate::close::{connection, method, transport};
use crate::house::House;
use crate::session::{Concern, Session};

impl House {
    /// A notice within a session.
    pub fn heed(&self, notification: &Notification<'_>, session: &Arc<Session>) -> Concern {
        self.overhear(notification, Face::Mcp(session.revision()), &session.caller, &session.id);
        self.obey(notification, session)
    }

    /// Does what a notice says. Another node has written down that it came.
    pub fn obey(&self, notification: &Notification<'_>, session: &Session) -> Concern {
        match &*notification.method {
            "notifications/cancelled" => match notification.param("requestId").and_then(Raw::as_id) {
                Some(id) => session.cancel(&id),
                None => Concern::Ours,
            },
            _ => Concern::Ours,
        }
    }

    /// Writes down a notice that is about nothing here. Never waits, not even where records are promised: there is no
    /// answer that could wait.
    pub fn overhear(&self, notification: &Notification<'_>, face: Face, caller: &Caller, on: &str) {
        let Some(ledger) = self.books.ledger() else { return };
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
