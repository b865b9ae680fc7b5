//! Sessions that other nodes can continue, and work that only its own node can.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use failwell_fault::{Effect, Fault, OrFault, Retry, reason};
use serde_json::json;

use crate::pipeline::Pipeline;
use crate::request::request_port::ContextParts;
use crate::session::Session;
use crate::session::state::{NodeEvent, NodeMessage, SessionKey, SharedState};
use crate::stages::route::{Route, Target};
use failwell_toolbox::Event;
use failwell_toolbox::Lookup;

/// The delay before a client repeats a request that came to the wrong node.
const ELSEWHERE_RETRY: Duration = Duration::from_secs(1);

/// A new random id for work that stays on this node. Among several nodes it begins with the name of its node.
pub fn new_id(node: Option<&str>) -> Result<String, Fault> {
    let mut random = [0u8; 18];
    getrandom::fill(&mut random).or_fault(&reason::SERVER_BUG)?;
    let random = URL_SAFE_NO_PAD.encode(random);
    Ok(match node {
        Some(node) => format!("{node}.{random}"),
        None => random,
    })
}

/// The fault for work of another node, by its id: that node has it, or is gone with it. `None` if the id names no
/// other node.
pub async fn fault_of_other_node(state: &dyn SharedState, id: &str) -> Option<Fault> {
    let (node, _) = id.split_once('.')?;
    let own = state.node()?;
    // An id from a caller can be any text.
    let is_name = node.len() == own.len() && node.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_name || node == own {
        return None;
    }
    Some(match state.is_alive(node).await {
        Ok(true) => Fault::new(&reason::GATEWAY_ELSEWHERE)
            .retry_as(Retry::After(ELSEWHERE_RETRY))
            .with_effect(Effect::None),
        Ok(false) => Fault::new(&reason::SERVER_NODE_LOST).with_effect(Effect::Unknown),
        Err(fault) => fault,
    })
}

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
            Some(shared) => self.state().keep_session(&self.session_key(&session.id), &shared).await,
            None => Ok(()),
        }
    }

    /// Stores the changed settings of a session, and notifies the nodes that have it.
    pub(crate) async fn keep_changed(&self, session: &Session) -> Result<(), Fault> {
        if self.state().node().is_none() {
            return Ok(());
        }
        self.keep_session(session).await?;
        self.state().tell(NodeMessage { of: self.session_key(&session.id), event: NodeEvent::Changed }).await
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
        for uri in session.shared_state().map(|shared| shared.watched).unwrap_or_default() {
            let method = "notifications/resources/updated";
            let notice = json!({"jsonrpc": "2.0", "method": method, "params": {"uri": uri}});
            if let Some(notice) = self.ports.guards.notice("", notice.to_string()).await {
                session.outbound.push_now(notice);
            }
        }
    }
}
