//! Keys that are made while the program runs, beside those of the configuration.

use std::fmt::Debug;

use failwell_fault::{Fault, OrFault, Ref, Secret, reason};
use failwell_policy::{Caller, KeyHash};
use serde::{Deserialize, Serialize};

use crate::own::now_ms;
use crate::tool::Work;

/// How keys begin, so that whoever finds one, and every scanner, knows what it opens.
const PREFIX: &str = "fw_";
/// How many random bytes a key has. They are why a plain hash will do for keeping it: there is nothing to guess that a
/// slow hash would slow down.
const BYTES: usize = 32;

/// A key nobody had before.
pub fn fresh_key() -> Result<Secret<String>, Fault> {
    let mut random = [0; BYTES];
    getrandom::fill(&mut random).or_fault(&reason::SERVER_BUG)?;
    let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Secret::new(format!("{PREFIX}{digits}")))
}

/// Whether a text can be a key at all, and not a token.
pub fn looks_like_key(text: &str) -> bool {
    text.starts_with(PREFIX)
}

/// What is known of a key that was made; never the key itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeKey {
    /// By which it is taken back.
    pub id: String,
    /// Its holder is the caller `key:NAME`.
    pub name: String,
    /// The roles of its holder.
    pub roles: Vec<String>,
    /// Who made it.
    pub made_by: String,
    /// When, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it stops to count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<i64>,
}

impl MadeKey {
    /// The most keys there may be.
    pub const MOST: usize = 10_000;
    /// The longest time a key may last, in seconds: ten years.
    pub const LONGEST_TTL: u64 = 315_360_000;

    /// Whose it is.
    pub fn holder(&self) -> Caller {
        Caller::keyholder(&self.name).in_roles(self.roles.iter().map(String::as_str))
    }

    /// Whether it still counts.
    pub fn counts(&self, now_ms: i64) -> bool {
        self.expires_ms.is_none_or(|expires| expires > now_ms)
    }

    /// Whether its holder can make keys, for as long as nobody takes it back.
    pub fn is_lasting_admin(&self) -> bool {
        self.expires_ms.is_none() && self.roles.iter().any(|role| role == "admin")
    }
}

/// What somebody wants a key to be.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct WantedKey {
    /// Its name.
    pub name: String,
    /// The roles of its holder; a plain user's by default.
    #[serde(default = "of_a_user")]
    pub roles: Vec<String>,
    /// How long it counts, in seconds; until it is taken back when it is not said.
    pub ttl_s: Option<u64>,
}

fn of_a_user() -> Vec<String> {
    vec!["user".to_owned()]
}

/// What became of a key that was to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Added {
    /// It counts from now on.
    Done,
    /// Another one has its name.
    Taken,
    /// There are too many.
    Full,
}

/// What became of a key that was to be taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revoked {
    /// It does not count any more.
    Done(Box<MadeKey>),
    /// There is none.
    Unknown,
    /// It is the last one whose holder could make others.
    LastAdmin,
}

/// Who keeps the keys, as hashes, for longer than this program runs. What cannot be read or written fails as
/// `policy/KEYS_AWAY` or `server/STATE`, and opens nothing.
pub trait KeyRing: Debug + Send + Sync + 'static {
    /// Whose key has this hash, if it still counts.
    fn holder(&self, hash: KeyHash) -> Work<Option<Caller>>;
    /// Keeps a key.
    fn add(&self, key: &MadeKey, hash: KeyHash) -> Work<Added>;
    /// Keeps a key if there never was one; whether it did.
    fn add_first(&self, key: &MadeKey, hash: KeyHash) -> Work<bool>;
    /// All that count, the oldest first.
    fn all(&self) -> Work<Vec<MadeKey>>;
    /// Takes one back.
    fn revoke(&self, id: &str) -> Work<Revoked>;
}

/// The first key of all, of an admin, if there never was one. It is shown to whoever started the program, once.
pub async fn first_key(ring: &dyn KeyRing) -> Result<Option<Secret<String>>, Fault> {
    let key = fresh_key()?;
    let made = MadeKey {
        id: Ref::fresh().to_string(),
        name: "admin".to_owned(),
        roles: vec!["admin".to_owned()],
        made_by: "first start".to_owned(),
        created_ms: now_ms(),
        expires_ms: None,
    };
    Ok(ring.add_first(&made, KeyHash::of(&key)).await?.then_some(key))
}
