//! The client side of a running call: how its upstream asks questions and sends notifications.

pub(super) mod event;
pub(super) mod session_users;
mod slow_clients;

use failwell_fault::{Fault, OrFault, reason};
use failwell_rpc::Json;
use failwell_toolbox::{Context, Question};
use tokio::sync::{mpsc, oneshot};

/// A question of an upstream during a call, and the sender for its answer.
#[derive(Debug)]
pub(crate) struct ClientQuestion {
    pub(crate) question: Question,
    pub(crate) answer: oneshot::Sender<Json>,
}

/// Reaches the client of one running call.
#[derive(Debug, Clone)]
pub(crate) struct ClientRelay {
    pub(crate) cx: Context,
    suspended: Option<mpsc::Sender<ClientQuestion>>,
}

impl ClientRelay {
    /// For a client that is asked while its request is open.
    pub(crate) fn direct(cx: &Context) -> ClientRelay {
        ClientRelay { cx: cx.clone(), suspended: None }
    }

    /// For a client that is asked by suspending the call.
    pub(crate) fn suspending(cx: &Context, suspended: mpsc::Sender<ClientQuestion>) -> ClientRelay {
        ClientRelay { cx: cx.clone(), suspended: Some(suspended) }
    }

    /// The relay for a message that names no call: the calls must all belong to one session. Messages that cannot be
    /// attributed to one client are dropped.
    pub(crate) fn for_only_client(relays: Vec<ClientRelay>) -> Option<ClientRelay> {
        let mut relays = relays.into_iter();
        let first = relays.next()?;
        let session = first.cx.caller_session().session;
        let is_one = relays.all(|other| {
            // A suspended call cannot answer for others.
            session.is_some() && other.cx.caller_session().session == session && first.suspended.is_none()
        });
        is_one.then_some(first)
    }

    pub(crate) async fn ask(&self, question: Question) -> Result<Json, Fault> {
        self.cx.need(question.needs())?;
        let Some(suspended) = &self.suspended else {
            let answers = self.cx.ask(&[("answer", question)]).await?;
            return answers.raw("answer").cloned().or_fault(&reason::MCP_CLIENT_REFUSED);
        };
        let (answer, waiting) = oneshot::channel();
        suspended.send(ClientQuestion { question, answer }).await.or_fault(&reason::MCP_CLIENT_REFUSED)?;
        waiting.await.or_fault(&reason::MCP_CLIENT_REFUSED)
    }
}
