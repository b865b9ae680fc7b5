use failwell_fault::{Fault, OrFault, reason};
use failwell_rpc::Json;
use failwell_server::{Context, Question};
use tokio::sync::{mpsc, oneshot};

use crate::parked::Asked;

/// The client of one running call, as its upstream reaches it.
#[derive(Debug, Clone)]
pub(crate) struct Relay {
    pub(crate) cx: Context,
    parked: Option<mpsc::Sender<Asked>>,
}

impl Relay {
    /// A client that can be asked at once.
    pub(crate) fn direct(cx: &Context) -> Relay {
        Relay { cx: cx.clone(), parked: None }
    }

    /// A client that is asked by parking the call.
    pub(crate) fn parking(cx: &Context, parked: mpsc::Sender<Asked>) -> Relay {
        Relay { cx: cx.clone(), parked: Some(parked) }
    }

    /// The client of all of these calls, when it is one and the same: what belongs to no call in particular is then
    /// its, whichever call it came with. Several clients are nobody, since nobody can say whose it is.
    pub(crate) fn of_one_client(relays: Vec<Relay>) -> Option<Relay> {
        let mut relays = relays.into_iter();
        let first = relays.next()?;
        let session = first.cx.party().session;
        let is_one = relays.all(|other| {
            // A parked call answers for itself alone.
            session.is_some() && other.cx.party().session == session && first.parked.is_none()
        });
        is_one.then_some(first)
    }

    /// Asks the client for the upstream.
    pub(crate) async fn ask(&self, question: Question) -> Result<Json, Fault> {
        self.cx.need(question.needs())?;
        let Some(parked) = &self.parked else {
            let answers = self.cx.ask(&[("answer", question)]).await?;
            return answers.raw("answer").cloned().or_fault(&reason::MCP_CLIENT_REFUSED);
        };
        let (answer, waiting) = oneshot::channel();
        parked.send(Asked { question, answer }).await.or_fault(&reason::MCP_CLIENT_REFUSED)?;
        waiting.await.or_fault(&reason::MCP_CLIENT_REFUSED)
    }
}
