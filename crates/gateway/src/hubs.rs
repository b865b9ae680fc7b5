//! Who hears that something of a member changed.

use std::sync::{Arc, Mutex, PoisonError};

use failwell_server::{Event, Hub, Party};

use crate::names::outside_uri;
use crate::roster::Reloaded;
use crate::uris;

/// Who hears of changes: everybody of all members, and those of one of that one.
#[derive(Default)]
pub(crate) struct Hubs(Mutex<Vec<(Option<String>, Hub)>>);

impl Hubs {
    pub(crate) fn add(&self, of: Option<&str>, hub: &Hub) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((of.map(str::to_owned), hub.clone()));
    }

    /// Every list is another one now; whoever heard of a server that is gone hears no more.
    pub(crate) fn tell(&self, told: &Reloaded) {
        if told.is_nothing() {
            return;
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (of, hub) in all.iter() {
            if told.ruled || of.as_ref().is_none_or(|of| told.changed.contains(of)) {
                [Event::ToolsChanged, Event::PromptsChanged, Event::ResourcesChanged]
                    .into_iter()
                    .for_each(|event| hub.announce(event));
            }
        }
        all.retain(|(of, _)| of.as_ref().is_none_or(|of| !told.removed.contains(of)));
    }

    pub(crate) fn announce(&self, server: &str, event: &Event, to: Option<&Arc<Party>>) {
        let tell = |hub: &Hub, event| match to {
            Some(party) => hub.announce_to(party.clone(), event),
            None => hub.announce(event),
        };
        for (of, hub) in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            match of {
                None => tell(hub, outside_event(server, event)),
                Some(of) if of == server => tell(hub, event.clone()),
                Some(_) => {}
            }
        }
    }
}

fn outside_event(server: &str, event: &Event) -> Event {
    match event {
        Event::ResourceUpdated(uri) => Event::ResourceUpdated(outside_uri(server, uri).into()),
        Event::Relayed(kind, params) => {
            let kind = outside_event(server, kind);
            let params = uris::of_event(&kind, params);
            Event::Relayed(Arc::new(kind), params)
        }
        other => other.clone(),
    }
}
