//! The state that several nodes share, so that each of them can respond. A single node shares nothing.

use std::fmt::Debug;
use std::time::Duration;

use failwell_fault::{Fault, Secret};
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;

use crate::session::stream::Frame;
use failwell_toolbox::Work;

/// The state that nodes share. Every operation has a short timeout and then fails as `server/STATE`.
pub trait SharedState: Debug + Send + Sync + 'static {
    /// The name of this node; `None` for a single node.
    fn node(&self) -> Option<&str>;
    fn is_alive(&self, node: &str) -> Work<bool>;
    /// The key that all nodes seal with.
    fn seal_key(&self) -> Work<Option<Secret<[u8; 32]>>>;

    /// Stores a session for its maximum idle time.
    fn keep_session(&self, of: &SessionKey, session: &SharedSession) -> Work<()>;
    /// Looks up a session, and resets its idle time.
    fn find_session(&self, of: &SessionKey) -> Work<SessionLookup>;
    /// Deletes a session.
    fn end_session(&self, of: &SessionKey) -> Work<()>;
    /// Sends a message to all other nodes.
    fn tell(&self, message: NodeMessage) -> Work<()>;
    /// The messages of other nodes; `None` if there are none.
    fn subscribe(&self) -> Option<broadcast::Receiver<NodeMessage>>;

    /// Records an event of a session's stream.
    fn write_stream(&self, at: &Track, happened: StreamEvent) -> Work<()>;
    /// Returns the recorded frames after a frame; `None` for an unknown stream.
    fn read_stream(&self, at: &Track, after: u64) -> Work<Option<StreamRecord>>;

    /// Opens the circuit breaker of a shared upstream for this duration, on all nodes.
    fn rest(&self, upstream: &str, wait: Duration) -> Work<()>;
    /// The remaining time of the open circuit breaker.
    fn resting(&self, upstream: &str) -> Work<Option<Duration>>;
}

/// The key of a session: pipeline and session id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionKey {
    /// The pipeline; each has its own sessions. Nodes of earlier versions read the old name.
    #[serde(rename = "house")]
    pub pipeline: String,
    pub session: String,
}

/// The key of a session's stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Track {
    pub of: SessionKey,
    /// The number of the stream in its session.
    pub number: u64,
}

/// The state that another node needs to continue a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedSession {
    pub caller: String,
    pub revision: String,
    /// The capabilities object that the client sent.
    pub capabilities: Option<String>,
    /// The log level.
    pub level: u8,
    /// The subscribed resources.
    pub watched: Vec<String>,
}

/// The result of a session lookup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionLookup {
    /// Sessions are not shared; this node's state is complete.
    NotShared,
    /// The session as all nodes know it.
    Found(SharedSession),
    /// No node knows the session.
    NotFound,
}

/// A message of one node to the others about a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeMessage {
    pub of: SessionKey,
    #[serde(rename = "word")]
    pub event: NodeEvent,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeEvent {
    /// The client sent this message; its subject belongs to another node.
    #[serde(rename = "Said")]
    Message(String),
    /// The settings of the session changed.
    Changed,
    /// The session ended.
    Ended,
}

#[derive(Debug, Clone)]
pub enum StreamEvent {
    Opened(StreamOpening),
    /// A new frame; frames before `oldest` may be evicted.
    Frame {
        frame: Frame,
        /// The number of the oldest retained frame.
        oldest: u64,
    },
    Ended,
}

/// The facts about the start of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamOpening {
    /// The node that serves the stream.
    pub node: String,
    /// The ids of the requests that are answered on the stream, verbatim.
    pub asked: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct StreamRecord {
    pub opened: StreamOpening,
    pub frames: Vec<Frame>,
    /// Whether the stream has ended.
    pub is_over: bool,
}

/// A single node, which shares nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct SingleNode;

impl SharedState for SingleNode {
    fn node(&self) -> Option<&str> {
        None
    }

    fn is_alive(&self, _: &str) -> Work<bool> {
        at_once(false)
    }

    fn seal_key(&self) -> Work<Option<Secret<[u8; 32]>>> {
        at_once(None)
    }

    fn keep_session(&self, _: &SessionKey, _: &SharedSession) -> Work<()> {
        at_once(())
    }

    fn find_session(&self, _: &SessionKey) -> Work<SessionLookup> {
        at_once(SessionLookup::NotShared)
    }

    fn end_session(&self, _: &SessionKey) -> Work<()> {
        at_once(())
    }

    fn tell(&self, _: NodeMessage) -> Work<()> {
        at_once(())
    }

    fn subscribe(&self) -> Option<broadcast::Receiver<NodeMessage>> {
        None
    }

    fn write_stream(&self, _: &Track, _: StreamEvent) -> Work<()> {
        at_once(())
    }

    fn read_stream(&self, _: &Track, _: u64) -> Work<Option<StreamRecord>> {
        at_once(None)
    }

    fn rest(&self, _: &str, _: Duration) -> Work<()> {
        at_once(())
    }

    fn resting(&self, _: &str) -> Work<Option<Duration>> {
        at_once(None)
    }
}

fn at_once<T: Send + 'static>(value: T) -> Work<T> {
    Box::pin(std::future::ready(Ok::<T, Fault>(value)))
}
