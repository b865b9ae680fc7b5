//! API keys that are created at run time, in addition to those of the configuration.

use std::fmt::Debug;

use failwell_fault::{Fault, OrFault, Ref, Secret, reason};
use failwell_policy::KeyHash;
use failwell_rpc::Caller;
use serde::{Deserialize, Serialize};

use crate::StoreFuture as Work;
use crate::clock::now_ms;

mod rows;
mod sqlite;

pub use sqlite::SqliteKeys;

/// The prefix of API keys, so that people and secret scanners recognise them.
const PREFIX: &str = "fw_";
/// Number of random bytes in a key. A key cannot be guessed, so a plain hash is enough: a slow hash would add
/// nothing.
const BYTES: usize = 32;

/// Creates a random key.
pub fn generate_key() -> Result<Secret<String>, Fault> {
    let mut random = [0; BYTES];
    getrandom::fill(&mut random).or_fault(&reason::SERVER_BUG)?;
    Ok(Secret::new(format!("{PREFIX}{}", hex::encode(random))))
}

/// Distinguishes a key from a token by its prefix.
pub fn looks_like_key(text: &str) -> bool {
    text.starts_with(PREFIX)
}

/// The description of an API key, without the key itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKey {
    /// The id for revocation.
    pub id: String,
    /// The holder is the caller `key:NAME`.
    pub name: String,
    pub roles: Vec<String>,
    /// The caller that created the key.
    pub made_by: String,
    /// The time of creation, in milliseconds since 1970.
    pub created_ms: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<i64>,
}

impl ApiKey {
    /// The name of the key in `FAILWELL_KEY`. No other key may have it, or two holders would be one caller.
    pub const ENVIRONMENT: &'static str = "environment";
    /// Maximum number of keys.
    pub const MOST: usize = 10_000;
    /// Maximum lifetime of a key in seconds: ten years.
    pub const LONGEST_TTL: u64 = 315_360_000;

    pub fn holder(&self) -> Caller {
        Caller::keyholder(&self.name).in_roles(self.roles.iter().map(String::as_str))
    }

    /// Returns true if the key has not expired.
    pub fn is_valid(&self, now_ms: i64) -> bool {
        self.expires_ms.is_none_or(|expires| expires > now_ms)
    }

    /// Returns true if the holder is an admin, and the key does not expire.
    pub fn is_lasting_admin(&self) -> bool {
        self.expires_ms.is_none() && self.roles.iter().any(|role| role == "admin")
    }
}

/// A request for a new key.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct KeyRequest {
    pub name: String,
    /// The roles of the holder; a plain user by default.
    #[serde(default = "user_role")]
    pub roles: Vec<String>,
    /// The lifetime in seconds; `None` means until revocation.
    pub ttl_s: Option<u64>,
}

fn user_role() -> Vec<String> {
    vec!["user".to_owned()]
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddKeyResult {
    Done,
    /// The name is taken.
    Taken,
    /// The maximum number of keys is reached.
    Full,
}

/// The result of revoking a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RevokeKeyResult {
    Done(Box<ApiKey>),
    Unknown,
    /// The key is the last admin key without an expiry, so that no holder could create others.
    LastAdmin,
}

/// Stores hashes of API keys across restarts. A store that cannot be read or written fails with
/// `policy/KEYS_AWAY` or `server/STATE`, and accepts no key.
pub trait KeyStore: Debug + Send + Sync + 'static {
    /// The holder of the key with this hash, unless the key has expired.
    fn holder(&self, hash: KeyHash) -> Work<Option<Caller>>;
    fn add(&self, key: &ApiKey, hash: KeyHash) -> Work<AddKeyResult>;
    /// Adds a key if the store never had one. Returns true if it was added.
    fn add_first(&self, key: &ApiKey, hash: KeyHash) -> Work<bool>;
    /// All valid keys, oldest first.
    fn all(&self) -> Work<Vec<ApiKey>>;
    fn revoke(&self, id: &str) -> Work<RevokeKeyResult>;
    /// Closes what the store holds open. The next use opens it again.
    fn close(&self) {}
}

/// Creates the first admin key if the store never had a key. The operator sees it once, at the start.
pub async fn create_first_key(store: &dyn KeyStore) -> Result<Option<Secret<String>>, Fault> {
    let key = generate_key()?;
    let made = ApiKey {
        id: Ref::fresh().to_string(),
        name: "admin".to_owned(),
        roles: vec!["admin".to_owned()],
        made_by: "first start".to_owned(),
        created_ms: now_ms(),
        expires_ms: None,
    };
    Ok(store.add_first(&made, KeyHash::new(&key)).await?.then_some(key))
}
