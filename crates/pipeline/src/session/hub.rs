use std::sync::Arc;

use failwell_toolbox::{CallerSession, Event};
use tokio::sync::broadcast;

/// The broadcast channel for changes. A slow listener misses the oldest events.
#[derive(Debug, Clone)]
pub struct Hub(broadcast::Sender<(Event, Option<Arc<CallerSession>>)>);

impl Hub {
    const LONGEST: usize = 256;

    pub(crate) fn new() -> Hub {
        Hub(broadcast::Sender::new(Self::LONGEST))
    }

    /// Notifies all listeners.
    pub fn announce(&self, event: Event) {
        // An error means that there are no listeners.
        let _ = self.0.send((event, None));
    }

    /// Notifies one party only.
    pub fn announce_to(&self, caller_session: Arc<CallerSession>, event: Event) {
        let _ = self.0.send((event, Some(caller_session)));
    }

    /// Returns a listener for the changes that concern this party.
    pub(crate) fn listen(&self, caller_session: CallerSession) -> Listener {
        Listener { events: self.0.subscribe(), caller_session }
    }
}

pub(crate) struct Listener {
    events: broadcast::Receiver<(Event, Option<Arc<CallerSession>>)>,
    caller_session: CallerSession,
}

impl Listener {
    /// The next change; `None` after the end.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            match self.events.recv().await {
                Ok((event, to)) if to.as_ref().is_none_or(|to| **to == self.caller_session) => {
                    return Some(event);
                }
                Ok(_) => {}
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}
