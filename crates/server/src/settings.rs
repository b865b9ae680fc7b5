use std::sync::Arc;
use std::time::Duration;

use failwell_fault::Secret;
use failwell_rpc::Era;

use crate::approving::ApprovalDesk;
use crate::guarding::Gate;
use crate::key_ring::KeyRing;
use crate::memory_sessions::MemorySessions;
use crate::rest_session::RestSessions;
use crate::shelf_desk::ShelfDesk;
use crate::state::{Alone, SharedState};
use crate::turnstile::Turnstile;

/// The bounds of one house.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How long one request may take.
    pub request_deadline: Duration,
    /// How long one task may take.
    pub task_deadline: Duration,
    /// How many requests may be in flight.
    pub most_in_flight: usize,
    /// How many subscriptions may be open.
    pub most_listeners: usize,
    /// How much callers may ask for.
    pub turnstile: Arc<Turnstile>,
    /// The most bytes one answer may have.
    pub largest_answer: usize,
    /// What a failed tool is answered with on MCP.
    pub tool_failures: ToolFailures,
    /// What messages may carry; `None` for what is guarded when nobody says.
    pub gate: Option<Gate>,
    /// The only era that is spoken; `None` for both.
    pub only: Option<Era>,
    /// The name of the house among those of its node; the main one has none.
    pub house: String,
    /// Where calls ask for a person's yes; nowhere by default.
    pub approvals: Option<Arc<ApprovalDesk>>,
    /// Who keeps the sessions of the REST face; this node alone by default.
    pub sessions: Arc<dyn RestSessions>,
    /// Who keeps keys that are made while the program runs; nobody by default.
    pub keys: Option<Arc<dyn KeyRing>>,
    /// Where resources are kept; nowhere by default.
    pub shelf: Option<ShelfDesk>,
    /// What nodes share.
    pub state: Arc<dyn SharedState>,
    /// What all nodes seal with; a fresh key by default.
    pub seal_key: Option<Secret<[u8; 32]>>,
}

/// What a failed tool is answered with on MCP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolFailures {
    /// A result with `isError`, which the model gets to see.
    #[default]
    Result,
    /// A JSON-RPC error, for clients that expect the pytest record's.
    Error,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            request_deadline: Duration::from_secs(300),
            task_deadline: Duration::from_secs(3_600),
            most_in_flight: 1_024,
            most_listeners: 256,
            turnstile: Arc::default(),
            largest_answer: 16 * 1024 * 1024,
            tool_failures: ToolFailures::default(),
            gate: None,
            only: None,
            house: String::new(),
            approvals: None,
            sessions: Arc::new(MemorySessions::default()),
            keys: None,
            shelf: None,
            state: Arc::new(Alone),
            seal_key: None,
        }
    }
}
