//! What this node shares with others.

use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, Secret};
use failwell_keyring::FileRing;
use failwell_server::{Alone, KeyRing, MemorySessions, RestSessions, SharedState};
use failwell_state::RedisState;

use super::ledger;
use crate::complaint::Complaint;
use crate::config::{Config, StateConfig};

/// What a start has joined.
pub(super) struct Shared {
    pub(super) state: Arc<dyn SharedState>,
    pub(super) seal_key: Option<Secret<[u8; 32]>>,
    /// Sessions of the REST face.
    pub(super) sessions: Arc<dyn RestSessions>,
    /// Keys that are made while the program runs.
    pub(super) keys: Arc<dyn KeyRing>,
}

impl Shared {
    /// Nothing: what is kept is kept here alone.
    pub(super) fn nothing(config: &Config) -> Shared {
        Shared {
            state: Arc::new(Alone),
            seal_key: None,
            sessions: Arc::new(MemorySessions::default()),
            keys: Arc::new(FileRing::in_folder(&ledger::folder(config))),
        }
    }

    /// What the configuration says; sessions are kept for as long as they may be idle.
    pub(super) async fn join(config: &Config, idle: Duration) -> Result<Shared, Complaint> {
        let StateConfig::Redis { url, trust } = &config.state else { return Ok(Shared::nothing(config)) };
        let unreachable = |fault: Fault| {
            let story = fault.operator().notes().iter().map(|(_, note)| note.to_string()).collect::<Vec<_>>();
            Complaint::new(
                format!("{} cannot be used: {}", config.state, story.join("; ")),
                "start Redis or Valkey there, or correct `state` in the configuration",
            )
        };
        let state = RedisState::join(url, trust.clone(), idle).await.map_err(unreachable)?;
        let seal_key = state.seal_key().await.map_err(unreachable)?;
        Ok(Shared { sessions: state.clone(), keys: state.clone(), state, seal_key })
    }
}
