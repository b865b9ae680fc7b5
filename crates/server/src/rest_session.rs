//! Sessions of the REST face: a place where a caller keeps things for a while. They have nothing to do with sessions of
//! MCP, which are conversations.

use std::fmt::Debug;

use failwell_fault::{Fault, Retry, reason};
use failwell_rpc::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::tool::Work;

/// A session as its owner sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RestSession {
    /// Its name, which nobody can guess.
    pub id: String,
    /// How long it lasts without a heartbeat or a change, in seconds.
    pub ttl_s: u64,
    /// When it began, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it ends unless something keeps it.
    pub expires_ms: i64,
    /// What its owner wrote on it.
    pub metadata: Map<String, Value>,
    /// What its context has something under, in order.
    pub context_keys: Vec<String>,
}

impl RestSession {
    /// How long one lasts when nobody says, and at the most, in seconds.
    pub const USUAL_TTL: u64 = 1_800;
    /// See [`RestSession::USUAL_TTL`].
    pub const LONGEST_TTL: u64 = 86_400;
    /// The most sessions of one caller.
    pub const MOST_OF_CALLER: usize = 100;
    /// The most sessions of all callers.
    pub const MOST: usize = 10_000;
    /// The most bytes a session may hold, metadata and context together.
    pub const LARGEST: usize = 256 * 1024;
    /// The most keys of its context.
    pub const MOST_KEYS: usize = 64;

    /// The fault for a session that is not there for this caller.
    pub fn unknown() -> Fault {
        Fault::new(&reason::SERVER_SESSION_UNKNOWN)
    }

    /// The fault for one session too many.
    pub fn one_too_many(limit: usize) -> Fault {
        Fault::new(&reason::SERVER_SESSIONS_FULL).fact("limit", limit)
    }

    /// The fault for a session that would hold too much.
    pub fn too_large() -> Fault {
        Fault::new(&reason::SERVER_SESSION_TOO_LARGE)
            .fact("limit", RestSession::LARGEST)
            .fact("count", RestSession::MOST_KEYS)
            .retry_as(Retry::AfterChange)
    }
}

/// What an owner says of a session when it begins or goes on.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct SessionTerms {
    /// How long it lasts from now on; as before when it is not said.
    pub ttl_s: Option<u64>,
    /// What is written on it; as before when it is not said.
    pub metadata: Option<Map<String, Value>>,
}

/// What is found under a key of a session's context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// This.
    Found(Json),
    /// Nothing.
    Nothing,
    /// There is no such session.
    NoSession,
}

/// Who keeps the sessions. One that is not this owner's is the same as one that is not there.
pub trait RestSessions: Debug + Send + Sync + 'static {
    /// Begins one.
    fn open(&self, owner: &str, terms: SessionTerms) -> Work<RestSession>;
    /// All of an owner's, the oldest first.
    fn all(&self, owner: &str) -> Work<Vec<RestSession>>;
    /// One of them.
    fn find(&self, owner: &str, id: &str) -> Work<Option<RestSession>>;
    /// Lets it go on: its time begins anew.
    fn renew(&self, owner: &str, id: &str, terms: SessionTerms) -> Work<Option<RestSession>>;
    /// Ends it; whether there was one.
    fn end(&self, owner: &str, id: &str) -> Work<bool>;
    /// What its context has under a key.
    fn item(&self, owner: &str, id: &str, key: &str) -> Work<Item>;
    /// Puts something under a key. Its time begins anew.
    fn put(&self, owner: &str, id: &str, key: &str, value: Json) -> Work<Option<RestSession>>;
}
