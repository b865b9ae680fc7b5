//! The operator's settings.

use std::path::PathBuf;
use std::time::Duration;

use failwell_fault::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The address of the service's methods.
pub const SERVICE: &str = "https://api.rememberthemilk.com";
/// The address where a user allows the access.
const APPROVAL: &str = "https://www.rememberthemilk.com";

/// The operator's settings.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The API key and its secret. Without them every tool reports the missing key.
    pub key: Option<ApiKey>,
    /// The address of the service: [`SERVICE`], or an emulator.
    pub service: String,
    /// The permission that a login requests.
    pub permission: Permission,
    pub keep: TokenStore,
    /// An initial token, which is not stored.
    pub token: Option<Secret<String>>,
    /// The folder for the token and the shared queue. Without it both stay in memory.
    pub folder: Option<PathBuf>,
    pub pace: RateLimit,
    /// Timeout of one response.
    pub timeout: Duration,
    /// The first delay before a retried read. Each further delay doubles.
    pub pause: Duration,
    /// Maximum age of cached data for lookups by name.
    pub fresh: Duration,
    /// The poll interval of subscribed resources.
    pub poll: Duration,
}

#[derive(Debug, Clone)]
pub struct ApiKey {
    /// Identifies this program to the service.
    pub key: Secret<String>,
    /// Signs the requests.
    pub secret: Secret<String>,
}

impl Settings {
    /// Default settings for a key.
    pub fn new(key: Option<ApiKey>, folder: Option<PathBuf>) -> Settings {
        Settings {
            key,
            service: SERVICE.to_owned(),
            permission: Permission::Delete,
            keep: TokenStore::Auto,
            token: None,
            folder,
            pace: RateLimit::Documented,
            timeout: Duration::from_secs(20),
            pause: Duration::from_millis(500),
            fresh: Duration::from_secs(10),
            poll: Duration::from_secs(30),
        }
    }

    /// The address where a user allows the access. Only the real service has a separate one.
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
    /// The service's spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Permission::Read => "read",
            Permission::Write => "write",
            Permission::Delete => "delete",
        }
    }

    /// Parses the service's spelling.
    pub fn named(name: &str) -> Option<Permission> {
        [Permission::Read, Permission::Write, Permission::Delete].into_iter().find(|it| it.as_str() == name)
    }
}

/// The storage of the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenStore {
    /// The keyring if there is one, otherwise a file.
    Auto,
    Keyring,
    /// A file that only its owner can read.
    File,
}

impl TokenStore {
    /// All names in settings.
    pub const NAMES: [&str; 3] = ["auto", "keyring", "file"];

    /// Finds a storage by its name.
    pub fn named(name: &str) -> Option<TokenStore> {
        match name {
            "auto" => Some(TokenStore::Auto),
            "keyring" => Some(TokenStore::Keyring),
            "file" => Some(TokenStore::File),
            _ => None,
        }
    }
}

/// The rate limit of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateLimit {
    /// A burst of three, then nine in ten seconds, for all processes with the key on this machine.
    Documented,
    /// No limit, for an emulator.
    Free,
}
