//! Notifications and responses from clients. Neither gets a response, and each notification is recorded.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use failwell_rpc::Caller;
use failwell_rpc::{Dialect, Notification, Raw, ReplyTo, Response};

use crate::controls::guards::MessageMeta;
use crate::pipeline::Pipeline;
use crate::record::{ExchangeOutcome, Record};
use crate::session::{ConcernedNode, Session};
use crate::stages::record::{connection, method, transport};

const INITIALIZED: &str = "notifications/initialized";
const CANCELLED: &str = "notifications/cancelled";
const PROGRESS: &str = "notifications/progress";
const ROOTS_CHANGED: &str = "notifications/roots/list_changed";

impl Pipeline {
    /// Handles and records a notification of a session.
    pub async fn handle_notification(
        self: &Arc<Self>,
        notification: &Notification<'_>,
        session: &Arc<Session>,
    ) -> ConcernedNode {
        let concern = self.apply_notification(notification, session).await;
        self.record_notification(
            notification,
            Dialect::Mcp(session.revision()),
            &session.caller,
            &session.id,
        )
        .await;
        let is_dropped = match &*notification.method {
            INITIALIZED | CANCELLED | ROOTS_CHANGED => false,
            PROGRESS => concern == ConcernedNode::OtherNode,
            _ => true,
        };
        if is_dropped {
            self.ports.recorder.metrics().disregard();
        }
        concern
    }

    /// Applies a notification that another node has recorded.
    pub async fn apply_notification(
        self: &Arc<Self>,
        notification: &Notification<'_>,
        session: &Arc<Session>,
    ) -> ConcernedNode {
        match &*notification.method {
            CANCELLED => match notification.param("requestId").and_then(Raw::as_id) {
                Some(id) => session.cancel(&id),
                None => ConcernedNode::ThisNode,
            },
            PROGRESS => self.pass_progress(notification, session).await,
            INITIALIZED => {
                session.finish_introduction();
                ConcernedNode::ThisNode
            }
            ROOTS_CHANGED => {
                if let Some(cx) = self.ports.detached(session) {
                    self.server.roots_changed(cx);
                }
                // This client's upstream connections may belong to another node.
                ConcernedNode::OtherNode
            }
            _ => ConcernedNode::ThisNode,
        }
    }

    /// Forwards progress of an answer to the receiver of the question. Progress that exceeds the receiver's
    /// queue is dropped.
    async fn pass_progress(&self, notification: &Notification<'_>, session: &Arc<Session>) -> ConcernedNode {
        let token = notification.param("progressToken").and_then(Raw::as_u64);
        let follower = token.and_then(|token| session.follower(token));
        let (Some(follower), Some(params)) = (follower, notification.params) else {
            return ConcernedNode::OtherNode;
        };
        let meta =
            MessageMeta { connection: &session.id, caller: session.caller.name(), ..MessageMeta::default() };
        if let Ok(clean) = self.ports.guards.incoming(meta, params.text()).await {
            let _ = follower.try_send(clean.unwrap_or_else(|| params.to_json()));
        }
        ConcernedNode::ThisNode
    }

    /// Records a notification that has no effect here.
    pub async fn ignore_notification(
        &self,
        notification: &Notification<'_>,
        dialect: Dialect,
        caller: &Caller,
        on: &str,
    ) {
        self.ports.recorder.metrics().disregard();
        self.record_notification(notification, dialect, caller, on).await;
    }

    /// Records a notification. No response could wait for the record, so mandatory records are not awaited
    /// either. Back-pressure slows a flood of notifications, before it evicts other records.
    async fn record_notification(
        &self,
        notification: &Notification<'_>,
        dialect: Dialect,
        caller: &Caller,
        on: &str,
    ) {
        let Some(ledger) = self.ports.recorder.ledger() else { return };
        if ledger.is_crowded() {
            ledger.wait_for_space().await;
        }
        let text = notification.text();
        ledger.note(Box::new(Record {
            to: ReplyTo::unreadable(None, dialect),
            ended: SystemTime::now(),
            took: Duration::ZERO,
            service: self.ports.service,
            connection: connection(on),
            transport: transport(on),
            caller: Some(caller.name().clone()),
            refused_from: None,
            method: Some(method(&notification.method)),
            target: None,
            trace: None,
            server: None,
            ended_as: ExchangeOutcome::Succeeded,
            bytes_in: text.len(),
            bytes_out: 0,
            verdicts: Vec::new(),
            bodies: ledger.bodies().map(|most| self.bodies(None, Some(text), None, most)),
        }));
    }

    /// Handles the answer to one of our questions.
    pub async fn handle_response(&self, response: &Response<'_>, session: &Session) -> ConcernedNode {
        let meta =
            MessageMeta { connection: &session.id, caller: session.caller.name(), ..MessageMeta::default() };
        let body = match response.body {
            Ok(raw) => match self.ports.guards.incoming(meta, raw.text()).await {
                Ok(clean) => Ok(clean.unwrap_or_else(|| raw.to_json())),
                // The asker learns only that there is no answer; the operator sees the reason.
                Err(_) => Err(()),
            },
            Err(_) => Err(()),
        };
        session.answer(&response.id, body)
    }
}
