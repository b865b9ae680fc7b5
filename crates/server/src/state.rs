//! What several nodes share, so that any of them can answer. One node alone shares nothing.

use std::fmt::Debug;
use std::time::Duration;

use failwell_fault::{Fault, Secret};
use failwell_policy::Rate;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;

use crate::stream::Frame;
use crate::tool::Work;

/// What nodes share. Whatever waits here waits for a short while only, and then fails as `server/STATE`.
pub trait SharedState: Debug + Send + Sync + 'static {
    /// The name of this node among the others; `None` when it is alone.
    fn node(&self) -> Option<&str>;
    /// Whether a node is still there.
    fn is_alive(&self, node: &str) -> Work<bool>;
    /// The key all nodes seal with.
    fn seal_key(&self) -> Work<Option<Secret<[u8; 32]>>>;

    /// Keeps a session for as long as it may be idle.
    fn keep_session(&self, of: &Place, session: &KeptSession) -> Work<()>;
    /// A session, which is used just now.
    fn find_session(&self, of: &Place) -> Work<Found>;
    /// Forgets a session.
    fn end_session(&self, of: &Place) -> Work<()>;
    /// Says something to all other nodes.
    fn tell(&self, letter: Letter) -> Work<()>;
    /// What other nodes say; `None` when there are none.
    fn hear(&self) -> Option<broadcast::Receiver<Letter>>;

    /// Writes down what happened on a stream of a session.
    fn write_stream(&self, at: &Track, happened: Happened) -> Work<()>;
    /// What was written down behind a frame; `None` for a stream nobody knows.
    fn read_stream(&self, at: &Track, after: u64) -> Work<Option<Written>>;

    /// Counts one request of a caller.
    fn take(&self, counter: &str, rate: Rate) -> Work<Turn>;
    /// An upstream that all nodes reach at the same place rests for so long.
    fn rest(&self, upstream: &str, wait: Duration) -> Work<()>;
    /// How much longer it rests.
    fn resting(&self, upstream: &str) -> Work<Option<Duration>>;
}

/// A session of a house.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Which house; each has sessions of its own.
    pub house: String,
    /// The session's id.
    pub session: String,
}

/// A stream of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Track {
    /// Whose.
    pub of: Place,
    /// Its number there.
    pub number: u64,
}

/// What another node needs to go on with a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptSession {
    /// Whose it is.
    pub caller: String,
    /// Which revision it speaks.
    pub revision: String,
    /// What its client can do, as it said.
    pub capabilities: Option<String>,
    /// How much it wants to hear.
    pub level: u8,
    /// Which resources it watches.
    pub watched: Vec<String>,
}

/// Where a session is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// What this node has is all there is.
    OnlyHere,
    /// As all nodes know it.
    Kept(KeptSession),
    /// Nowhere.
    Nowhere,
}

/// What one node says to the others about a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// Which session.
    pub of: Place,
    /// What.
    pub word: Word,
}

/// What there is to say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Word {
    /// The client sent this message, which is about something of another node.
    Said(String),
    /// It is kept with other settings now.
    Changed,
    /// It is over.
    Ended,
}

/// What happens on a stream.
#[derive(Debug, Clone)]
pub enum Happened {
    /// It began.
    Opened(Opened),
    /// A frame; those before `oldest` need not be kept any more.
    Said {
        /// The frame.
        frame: Frame,
        /// The number of the oldest frame that is still kept.
        oldest: u64,
    },
    /// It is over.
    Ended,
}

/// How a stream began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// Which node works on it.
    pub node: String,
    /// The ids of the requests that are answered on it, as they were written.
    pub asked: Vec<String>,
}

/// What was written down of a stream.
#[derive(Debug, Clone)]
pub struct Written {
    /// How it began.
    pub opened: Opened,
    /// Frames, in order.
    pub frames: Vec<Frame>,
    /// Whether it is over.
    pub is_over: bool,
}

/// Whether it is a caller's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// It is.
    Now,
    /// In so long.
    Wait(Duration),
    /// Nobody counted: each node counts for itself.
    Uncounted,
}

/// A node that shares nothing: everything is kept where it is made.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl SharedState for Alone {
    fn node(&self) -> Option<&str> {
        None
    }

    fn is_alive(&self, _: &str) -> Work<bool> {
        at_once(false)
    }

    fn seal_key(&self) -> Work<Option<Secret<[u8; 32]>>> {
        at_once(None)
    }

    fn keep_session(&self, _: &Place, _: &KeptSession) -> Work<()> {
        at_once(())
    }

    fn find_session(&self, _: &Place) -> Work<Found> {
        at_once(Found::OnlyHere)
    }

    fn end_session(&self, _: &Place) -> Work<()> {
        at_once(())
    }

    fn tell(&self, _: Letter) -> Work<()> {
        at_once(())
    }

    fn hear(&self) -> Option<broadcast::Receiver<Letter>> {
        None
    }

    fn write_stream(&self, _: &Track, _: Happened) -> Work<()> {
        at_once(())
    }

    fn read_stream(&self, _: &Track, _: u64) -> Work<Option<Written>> {
        at_once(None)
    }

    fn take(&self, _: &str, _: Rate) -> Work<Turn> {
        at_once(Turn::Uncounted)
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
