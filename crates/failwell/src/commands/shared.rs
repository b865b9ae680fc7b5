//! What this node shares with others.

use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, Secret};
use failwell_server::{Alone, SharedState};
use failwell_state::RedisState;

use crate::complaint::Complaint;
use crate::config::StateConfig;

/// What a start has joined.
pub(super) struct Shared {
    pub(super) state: Arc<dyn SharedState>,
    pub(super) seal_key: Option<Secret<[u8; 32]>>,
}

impl Shared {
    /// Nothing.
    pub(super) fn nothing() -> Shared {
        Shared { state: Arc::new(Alone), seal_key: None }
    }

    /// What the configuration says; sessions are kept for as long as they may be idle.
    pub(super) async fn join(config: &StateConfig, idle: Duration) -> Result<Shared, Complaint> {
        let StateConfig::Redis(url) = config else { return Ok(Shared::nothing()) };
        let unreachable = |fault: Fault| {
            let story = fault.operator().notes().iter().map(|(_, note)| note.to_string()).collect::<Vec<_>>();
            Complaint::new(
                format!("{config} cannot be used: {}", story.join("; ")),
                "start Redis or Valkey there, or correct `state` in the configuration",
            )
        };
        let state = RedisState::join(url, idle).await.map_err(unreachable)?;
        let seal_key = state.seal_key().await.map_err(unreachable)?;
        Ok(Shared { state, seal_key })
    }
}
