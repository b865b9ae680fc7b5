use std::sync::Arc;

use failwell_rpc::Json;
use serde_json::json;
use tokio::sync::broadcast;

use crate::party::Party;

/// Something changed that clients may have asked to hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The list of tools.
    ToolsChanged,
    /// The list of prompts.
    PromptsChanged,
    /// The list of resources.
    ResourcesChanged,
    /// The content of one resource.
    ResourceUpdated(Arc<str>),
    /// The state of one task.
    TaskChanged(Arc<str>),
    /// One of the above told by somebody else, with all that they said about it.
    Relayed(Arc<Event>, Json),
}

impl Event {
    /// Whether what was listed before may no longer be so.
    pub fn changes_a_list(&self) -> bool {
        match self {
            Event::ToolsChanged | Event::PromptsChanged | Event::ResourcesChanged => true,
            Event::ResourceUpdated(_) | Event::TaskChanged(_) => false,
            Event::Relayed(event, _) => event.changes_a_list(),
        }
    }

    /// The notification that tells of it.
    pub(crate) fn method(&self) -> &'static str {
        match self.kind() {
            Event::ToolsChanged => "notifications/tools/list_changed",
            Event::PromptsChanged => "notifications/prompts/list_changed",
            Event::ResourcesChanged => "notifications/resources/list_changed",
            Event::ResourceUpdated(_) => "notifications/resources/updated",
            Event::TaskChanged(_) | Event::Relayed(..) => "notifications/tasks",
        }
    }

    /// What changed, whoever told of it.
    pub fn kind(&self) -> &Event {
        match self {
            Event::Relayed(kind, _) => kind,
            plain => plain,
        }
    }

    /// The params of that notification, but for what only its listener knows.
    pub(crate) fn params(&self) -> Option<Json> {
        match self {
            Event::Relayed(_, params) => Some(params.clone()),
            Event::ResourceUpdated(uri) => Some(Json::from(&json!({"uri": &**uri}))),
            _ => None,
        }
    }
}

/// Where changes are announced and heard. A listener that falls far behind misses the oldest.
#[derive(Debug, Clone)]
pub struct Hub(broadcast::Sender<(Event, Option<Arc<Party>>)>);

impl Hub {
    const LONGEST: usize = 256;

    pub(crate) fn new() -> Hub {
        Hub(broadcast::Sender::new(Self::LONGEST))
    }

    /// Tells everybody who listens.
    pub fn announce(&self, event: Event) {
        // An error means that nobody listens.
        let _ = self.0.send((event, None));
    }

    /// Tells one party alone.
    pub fn announce_to(&self, party: Arc<Party>, event: Event) {
        let _ = self.0.send((event, Some(party)));
    }

    /// What this party may hear.
    pub(crate) fn listen(&self, party: Party) -> Listener {
        Listener { heard: self.0.subscribe(), party }
    }
}

/// One who listens.
pub(crate) struct Listener {
    heard: broadcast::Receiver<(Event, Option<Arc<Party>>)>,
    party: Party,
}

impl Listener {
    /// The next change; `None` when there will be none.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            match self.heard.recv().await {
                Ok((event, to)) if to.as_ref().is_none_or(|to| **to == self.party) => return Some(event),
                Ok(_) => {}
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}
