//! Sessions that other nodes can go on with.

use std::sync::Arc;

use failwell_fault::Fault;
use serde_json::json;

use crate::context::{Context, Surroundings};
use crate::house::House;
use crate::hub::Event;
use crate::session::Session;
use crate::state::{Letter, Place, SharedState, Word};

impl House {
    /// What nodes share.
    pub fn state(&self) -> &Arc<dyn SharedState> {
        &self.settings.state
    }

    /// What a session of this house is called among all nodes.
    pub fn place_of(&self, session: &str) -> Place {
        Place { house: self.settings.house.clone(), session: session.to_owned() }
    }

    /// Keeps a session where other nodes find it.
    pub async fn keep_session(&self, session: &Session) -> Result<(), Fault> {
        match session.kept().filter(|_| self.state().node().is_some()) {
            Some(kept) => self.state().keep_session(&self.place_of(&session.id), &kept).await,
            None => Ok(()),
        }
    }

    /// A session has other settings now; nodes that have it too hear of it.
    pub(crate) async fn keep_changed(&self, session: &Session) -> Result<(), Fault> {
        if self.state().node().is_none() {
            return Ok(());
        }
        self.keep_session(session).await?;
        self.state().tell(Letter { of: self.place_of(&session.id), word: Word::Changed }).await
    }

    /// Watches here what a session watches on another node. One that cannot be watched here stays watched there.
    pub async fn watch_too(self: &Arc<Self>, session: &Arc<Session>, uris: Vec<String>) {
        for uri in uris {
            let Some(around) = self.around(session) else { return };
            let cx = Context::new(Surroundings { server: self.server_behind(&uri), ..around });
            let _ = self.supervise(self.room.watch(&uri, cx.clone()), &cx).await;
        }
    }

    /// A client comes back here from a stream of another node: what it may have missed is told once more.
    pub async fn tell_missed(&self, session: &Session) {
        for event in [Event::ToolsChanged, Event::PromptsChanged, Event::ResourcesChanged] {
            session.outbound.push_now(json!({"jsonrpc": "2.0", "method": event.method()}).to_string());
        }
        for uri in session.kept().map(|kept| kept.watched).unwrap_or_default() {
            let method = "notifications/resources/updated";
            let notice = json!({"jsonrpc": "2.0", "method": method, "params": {"uri": uri}});
            if let Some(notice) = self.porter.notice("", notice.to_string()).await {
                session.outbound.push_now(notice);
            }
        }
    }
}
