use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};

use crate::address::{Extension, Kind};

/// What is said of a resource when it is brought.
#[derive(Debug, Clone, PartialEq)]
pub struct New {
    /// Its type.
    pub kind: Kind,
    /// Its ending.
    pub extension: Extension,
    /// How long to keep it; the shelf's own time when nobody says.
    pub ttl: Option<Duration>,
    /// What else belongs to it.
    pub metadata: Map<String, Value>,
}

/// What is known of a resource that is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// `resource://{type}/{sha256}{ext}`
    pub uri: String,
    /// Its type.
    pub kind: Kind,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
    /// Its ending.
    pub extension: Extension,
    /// How many bytes it has.
    pub size: u64,
    /// The type of the bytes, by the ending.
    pub media_type: &'static str,
    /// When it was first brought.
    pub created: SystemTime,
    /// When it is gone.
    pub expires: SystemTime,
    /// What else belongs to it.
    pub metadata: Map<String, Value>,
}

/// Which part of the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Only of this type.
    pub kind: Option<Kind>,
    /// Where the page before ended.
    pub after: Option<String>,
    /// How many at most; as many as one page has when nobody says.
    pub most: Option<usize>,
}

/// A part of the list, the latest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The resources.
    pub items: Vec<Kept>,
    /// Where the next page begins, if there is one.
    pub next: Option<String>,
}
