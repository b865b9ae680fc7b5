//! Sessions that other nodes can continue.

use std::sync::Arc;

use failwell_fault::Fault;
use serde_json::json;

use crate::pipeline::Pipeline;
use crate::request::request_port::ContextParts;
use crate::session::Session;
use crate::session::state::{NodeEvent, NodeMessage, SessionKey, SharedState};
use crate::stages::route::{Route, Target};
use failwell_toolbox::Event;
use failwell_toolbox::Lookup;

impl Pipeline {
    /// The state that nodes share.
    pub fn state(&self) -> &Arc<dyn SharedState> {
        &self.settings.state
    }

    /// The key of a session of this pipeline among all nodes.
    pub fn session_key(&self, session: &str) -> SessionKey {
        SessionKey { pipeline: self.settings.pipeline.clone(), session: session.to_owned() }
    }

    /// Stores a session for other nodes.
    pub async fn keep_session(&self, session: &Session) -> Result<(), Fault> {
        match session.shared_state().filter(|_| self.state().node().is_some()) {
            Some(kept) => self.state().keep_session(&self.session_key(&session.id), &kept).await,
            None => Ok(()),
        }
    }

    /// Stores the changed settings of a session, and notifies the nodes that have it.
    pub(crate) async fn keep_changed(&self, session: &Session) -> Result<(), Fault> {
        if self.state().node().is_none() {
            return Ok(());
        }
        self.keep_session(session).await?;
        self.state().tell(NodeMessage { of: self.session_key(&session.id), word: NodeEvent::Changed }).await
    }

    /// Subscribes here to the resources that a session subscribed to on another node. A failed subscription
    /// stays active there.
    pub async fn watch_too(self: &Arc<Self>, session: &Arc<Session>, uris: Vec<String>) {
        for uri in uris {
            let Some(client) = session.client() else { return };
            let Lookup::Found(resource) = self.server.find_resource(&uri, &client.caller) else { continue };
            let route = Route::from(Target::Resource(resource.clone()));
            let server = self.guarded_server(Some(&route)).to_owned();
            let cx = ContextParts { server, ..self.ports.session_parts(session, client) }.into_context();
            let _ = self.watch_resource(resource, &cx).await;
        }
    }

    /// Repeats the notifications that a client may have missed on a stream of another node.
    pub async fn tell_missed(&self, session: &Session) {
        for event in [Event::ToolsChanged, Event::PromptsChanged, Event::ResourcesChanged] {
            session.outbound.push_now(json!({"jsonrpc": "2.0", "method": event.method()}).to_string());
        }
        for uri in session.shared_state().map(|kept| kept.watched).unwrap_or_default() {
            let method = "notifications/resources/updated";
            let notice = json!({"jsonrpc": "2.0", "method": method, "params": {"uri": uri}});
            if let Some(notice) = self.ports.guards.notice("", notice.to_string()).await {
                session.outbound.push_now(notice);
            }
        }
    }
}
