//! State that this node shares with others.

use std::sync::Arc;
use std::time::Duration;

use failwell_cluster::{RedisImage, RedisState};
use failwell_controls::{MemorySessions, RestSessions, SharedRates};
use failwell_fault::{Fault, Secret};
use failwell_pipeline::{SharedState, SingleNode};
use failwell_store::{ConsentFile, KeyStore, SqliteKeys};

use super::ledger;
use crate::complaint::Complaint;
use crate::config::{Config, StateConfig};

/// The backends of sessions, keys and shared state.
pub(in crate::commands) struct SharedBackends {
    pub(in crate::commands) state: Arc<dyn SharedState>,
    /// Counters of rates; `None` for those of this node.
    pub(in crate::commands) rates: Option<Arc<dyn SharedRates>>,
    pub(in crate::commands) seal_key: Option<Secret<[u8; 32]>>,
    pub(in crate::commands) sessions: Arc<dyn RestSessions>,
    /// API keys created at run time.
    pub(in crate::commands) keys: Arc<dyn KeyStore>,
    /// Approvals and pins.
    pub(in crate::commands) consent: Arc<ConsentFile>,
}

/// The database of approvals and pins of this configuration.
pub(in crate::commands) fn consent(config: &Config) -> Result<Arc<ConsentFile>, Fault> {
    match &config.state {
        StateConfig::Memory => Ok(ConsentFile::in_folder(&ledger::folder(config))),
        StateConfig::Redis { url, trust } => Ok(ConsentFile::shared(RedisImage::new(url, trust.clone())?)),
    }
}

impl SharedBackends {
    /// Local backends: memory and SQLite.
    pub(in crate::commands) fn nothing(config: &Config) -> SharedBackends {
        SharedBackends {
            state: Arc::new(SingleNode),
            rates: None,
            seal_key: None,
            sessions: Arc::new(MemorySessions::default()),
            keys: Arc::new(SqliteKeys::in_folder(&ledger::folder(config))),
            consent: ConsentFile::in_folder(&ledger::folder(config)),
        }
    }

    /// Those of a program that serves one client. `failwell approve` and `failwell pin` use the approvals and pins that
    /// nodes share, so this program does too; the rest is local.
    pub(in crate::commands) fn of_one_client(config: &Config) -> Result<SharedBackends, Complaint> {
        let consent = consent(config).map_err(|fault| unusable(config, &fault))?;
        Ok(SharedBackends { consent, ..SharedBackends::nothing(config) })
    }

    /// Connects the backends that the configuration names. `idle` is the lifetime of an idle session.
    pub(in crate::commands) async fn join(
        config: &Config,
        idle: Duration,
    ) -> Result<SharedBackends, Complaint> {
        let StateConfig::Redis { url, trust } = &config.state else {
            return Ok(SharedBackends::nothing(config));
        };
        let unreachable = |fault: Fault| unusable(config, &fault);
        let state = RedisState::join(url, trust.clone(), idle).await.map_err(unreachable)?;
        let seal_key = state.seal_key().await.map_err(unreachable)?;
        Ok(SharedBackends {
            sessions: state.clone(),
            keys: state.clone(),
            rates: Some(state.clone()),
            consent: consent(config).map_err(unreachable)?,
            state,
            seal_key,
        })
    }
}

fn unusable(config: &Config, fault: &Fault) -> Complaint {
    let story = fault.operator().notes().iter().map(|(_, note)| note.to_string()).collect::<Vec<_>>();
    Complaint::new(
        format!("{} cannot be used: {}", config.state, story.join("; ")),
        "start Redis or Valkey there, or correct `state` in the configuration",
    )
}
