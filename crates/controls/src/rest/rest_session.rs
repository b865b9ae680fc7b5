//! REST sessions: temporary storage of a caller. They are unrelated to MCP sessions.

use std::fmt::Debug;

use failwell_fault::{Fault, Retry, reason};
use failwell_rpc::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use failwell_toolbox::Work;

/// A session as its owner sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RestSession {
    /// An unguessable id.
    pub id: String,
    /// The lifetime without a heartbeat or a change, in seconds.
    pub ttl_s: u64,
    /// The creation time, in milliseconds since 1970.
    pub created_ms: i64,
    /// The expiry time, unless the session is extended.
    pub expires_ms: i64,
    /// The owner's metadata.
    pub metadata: Map<String, Value>,
    /// The keys of the session's context, sorted.
    pub context_keys: Vec<String>,
}

impl RestSession {
    /// The default lifetime, in seconds.
    pub const USUAL_TTL: u64 = 1_800;
    /// The maximum lifetime, in seconds.
    pub const LONGEST_TTL: u64 = 86_400;
    /// The maximum number of sessions per caller.
    pub const MOST_OF_CALLER: usize = 100;
    /// The maximum number of sessions of all callers.
    pub const MOST: usize = 10_000;
    /// The maximum size of a session in bytes, metadata and context together.
    pub const LARGEST: usize = 256 * 1024;
    /// The maximum number of context keys per session.
    pub const MOST_KEYS: usize = 64;

    /// The fault for a session that is unknown to this caller.
    pub fn unknown() -> Fault {
        Fault::new(&reason::SERVER_SESSION_UNKNOWN)
    }

    /// The fault for too many sessions.
    pub fn one_too_many(limit: usize) -> Fault {
        Fault::new(&reason::SERVER_SESSIONS_FULL).fact("limit", limit)
    }

    /// The fault for a session that would become too large.
    pub fn too_large() -> Fault {
        Fault::new(&reason::SERVER_SESSION_TOO_LARGE)
            .fact("limit", RestSession::LARGEST)
            .fact("count", RestSession::MOST_KEYS)
            .retry_as(Retry::AfterChange)
    }
}

/// The owner's settings for a new or extended session.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct SessionTerms {
    /// The new lifetime; unchanged if absent.
    pub ttl_s: Option<u64>,
    /// The new metadata; unchanged if absent.
    pub metadata: Option<Map<String, Value>>,
}

/// The result of reading a context key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    Found(Json),
    /// The key has no value.
    Nothing,
    /// The session is unknown.
    NoSession,
}

/// The store of REST sessions. Another owner's session looks like an unknown one.
pub trait RestSessions: Debug + Send + Sync + 'static {
    fn open(&self, owner: &str, terms: SessionTerms) -> Work<RestSession>;
    /// All sessions of an owner, oldest first.
    fn all(&self, owner: &str) -> Work<Vec<RestSession>>;
    fn find(&self, owner: &str, id: &str) -> Work<Option<RestSession>>;
    /// Extends a session: its lifetime starts anew.
    fn renew(&self, owner: &str, id: &str, terms: SessionTerms) -> Work<Option<RestSession>>;
    /// Ends a session. Returns whether it existed.
    fn end(&self, owner: &str, id: &str) -> Work<bool>;
    /// Reads a value of the session's context.
    fn item(&self, owner: &str, id: &str, key: &str) -> Work<Item>;
    /// Sets a value of the session's context. The lifetime starts anew.
    fn put(&self, owner: &str, id: &str, key: &str, value: Json) -> Work<Option<RestSession>>;
}
