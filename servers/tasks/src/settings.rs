//! What the operator decides.

use std::path::PathBuf;
use std::time::Duration;

use failwell_fault::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the service's methods are.
pub const SERVICE: &str = "https://api.rememberthemilk.com";
/// Where a person allows the access.
const APPROVAL: &str = "https://www.rememberthemilk.com";

/// What the operator decides.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The API key and its secret; without them every tool says what is missing.
    pub key: Option<ApiKey>,
    /// Where the service is; [`SERVICE`] unless somebody stands in for it.
    pub service: String,
    /// How much a login asks for.
    pub permission: Permission,
    /// Where the token is kept.
    pub keep: TokenStore,
    /// The folder for the token and for what all users of the key share; nothing is kept without it.
    pub folder: Option<PathBuf>,
    /// How fast requests may follow each other.
    pub pace: PaceIs,
    /// How long one answer may take.
    pub timeout: Duration,
    /// How long to wait before a read is tried again; each further try waits twice as long.
    pub pause: Duration,
    /// For how long what was read is good enough to look names up in.
    pub fresh: Duration,
    /// How often watched resources are looked at.
    pub poll: Duration,
}

/// An API key with its secret.
#[derive(Debug, Clone)]
pub struct ApiKey {
    /// Who this program is to the service.
    pub key: Secret<String>,
    /// What proves it.
    pub secret: Secret<String>,
}

impl Settings {
    /// The usual settings for a key.
    pub fn new(key: Option<ApiKey>, folder: Option<PathBuf>) -> Settings {
        Settings {
            key,
            service: SERVICE.to_owned(),
            permission: Permission::Delete,
            keep: TokenStore::Auto,
            folder,
            pace: PaceIs::Documented,
            timeout: Duration::from_secs(20),
            pause: Duration::from_millis(500),
            fresh: Duration::from_secs(10),
            poll: Duration::from_secs(30),
        }
    }

    /// Where a person allows the access: beside the methods, but for the service itself.
    pub(crate) fn approval(&self) -> &str {
        if self.service.trim_end_matches('/') == SERVICE { APPROVAL } else { &self.service }
    }
}

/// How much a login allows, each including the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    /// Look.
    Read,
    /// Look, add and change.
    Write,
    /// All of it: undo and sub-tasks need this too.
    Delete,
}

impl Permission {
    /// As the service spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Permission::Read => "read",
            Permission::Write => "write",
            Permission::Delete => "delete",
        }
    }

    /// Reads the service's spelling.
    pub fn named(name: &str) -> Option<Permission> {
        [Permission::Read, Permission::Write, Permission::Delete].into_iter().find(|it| it.as_str() == name)
    }
}

/// Where the token is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenStore {
    /// In the keyring where there is one, else in a file.
    Auto,
    /// In the system's keyring.
    Keyring,
    /// In a file that only its owner may read.
    File,
}

impl TokenStore {
    /// All of them, as they are written in settings.
    pub const NAMES: [&str; 3] = ["auto", "keyring", "file"];

    /// Reads a name.
    pub fn named(name: &str) -> Option<TokenStore> {
        match name {
            "auto" => Some(TokenStore::Auto),
            "keyring" => Some(TokenStore::Keyring),
            "file" => Some(TokenStore::File),
            _ => None,
        }
    }
}

/// How fast requests may follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaceIs {
    /// Three at once, then nine in ten seconds, for everybody with the key on this machine.
    Documented,
    /// As they come: for a stand-in that does not mind.
    Free,
}
