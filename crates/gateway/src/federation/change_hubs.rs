//! Where changes of members are announced.

use std::sync::Arc;

use failwell_pipeline::Hub;
use failwell_toolbox::{CallerSession, Event};
use parking_lot::Mutex;

use crate::federation::member::member_set::ReloadReport;
use crate::federation::names::outside_uri;
use crate::federation::names::uris;

/// The hub of the whole gateway (`None`) and the hubs of single members, by name.
#[derive(Default)]
pub(crate) struct ChangeHubs(Mutex<Vec<(Option<String>, Hub)>>);

impl ChangeHubs {
    pub(crate) fn add(&self, of: Option<&str>, hub: &Hub) {
        let mut all = self.0.lock();
        all.push((of.map(str::to_owned), hub.clone()));
    }

    /// Announces that the lists changed, and forgets the hubs of removed members.
    pub(crate) fn announce_reload(&self, report: &ReloadReport) {
        if report.is_nothing() {
            return;
        }
        let mut all = self.0.lock();
        for (of, hub) in all.iter() {
            if report.ruled || of.as_ref().is_none_or(|of| report.changed.contains(of)) {
                [Event::ToolsChanged, Event::PromptsChanged, Event::ResourcesChanged]
                    .into_iter()
                    .for_each(|event| hub.announce(event));
            }
        }
        all.retain(|(of, _)| of.as_ref().is_none_or(|of| !report.removed.contains(of)));
    }

    pub(crate) fn announce(&self, server: &str, event: &Event, to: Option<&Arc<CallerSession>>) {
        let tell = |hub: &Hub, event| match to {
            Some(caller_session) => hub.announce_to(caller_session.clone(), event),
            None => hub.announce(event),
        };
        for (of, hub) in self.0.lock().iter() {
            match of {
                None => tell(hub, to_outside_event(server, event)),
                Some(of) if of == server => tell(hub, event.clone()),
                Some(_) => {}
            }
        }
    }
}

fn to_outside_event(server: &str, event: &Event) -> Event {
    match event {
        Event::ResourceUpdated(uri) => Event::ResourceUpdated(outside_uri(server, uri).into()),
        Event::Relayed(kind, params) => {
            let kind = to_outside_event(server, kind);
            let params = uris::in_event(&kind, params);
            Event::Relayed(Arc::new(kind), params)
        }
        other => other.clone(),
    }
}
