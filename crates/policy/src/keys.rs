use failwell_fault::Secret;
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use failwell_rpc::Caller;

/// The API keys and their owners. Only the hashes are stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keys(Vec<KeyEntry>);

#[derive(Debug, Clone)]
struct KeyEntry {
    hash: KeyHash,
    owner: Caller,
}

impl PartialEq for KeyEntry {
    fn eq(&self, other: &KeyEntry) -> bool {
        self.hash == other.hash && self.owner == other.owner && self.owner.roles().eq(other.owner.roles())
    }
}

impl Eq for KeyEntry {}

/// The hash of an API key. Keys are long and random, so a plain hash reveals nothing about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    const PREFIX: &str = "sha256:";

    pub fn new(key: &Secret<String>) -> KeyHash {
        hash(key.expose())
    }

    /// Reads `sha256:` followed by 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<KeyHash> {
        let digits = text.strip_prefix(KeyHash::PREFIX)?;
        let mut bytes = [0; 32];
        hex::decode_to_slice(digits, &mut bytes).ok()?;
        Some(KeyHash(bytes))
    }
}

impl std::fmt::Display for KeyHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(KeyHash::PREFIX)?;
        f.write_str(&hex::encode(self.0))
    }
}

impl Keys {
    /// Adds a key under a name. Only its hash is stored.
    #[must_use]
    pub fn with(self, name: &str, key: &Secret<String>) -> Keys {
        self.with_hash(Caller::keyholder(name), KeyHash::new(key))
    }

    /// Adds a key by its hash.
    #[must_use]
    pub fn with_hash(mut self, owner: Caller, hash: KeyHash) -> Keys {
        self.0.push(KeyEntry { hash, owner });
        self
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn owners(&self) -> impl Iterator<Item = &Caller> {
        self.0.iter().map(|known| &known.owner)
    }

    pub fn holds(&self, hash: KeyHash) -> bool {
        self.0.iter().any(|known| known.hash == hash)
    }

    /// Returns the owner of the presented key. Every key is compared, so that timing reveals nothing.
    pub fn owner(&self, presented: &str) -> Option<Caller> {
        let presented = hash(presented);
        let mut found = None;
        for KeyEntry { hash, owner } in &self.0 {
            if Choice::into(hash.0.as_slice().ct_eq(presented.0.as_slice())) {
                found = Some(owner);
            }
        }
        found.cloned()
    }
}

fn hash(key: &str) -> KeyHash {
    KeyHash(Sha256::digest(key.as_bytes()).into())
}

#[cfg(test)]
mod tests {
    use super::{KeyHash, Keys};
    use failwell_fault::Secret;
    use failwell_rpc::Caller;

    #[test]
    fn keys_open_and_wrong_ones_do_not() {
        let hash = KeyHash::new(&Secret::new("other".to_owned()));
        let written = KeyHash::parse(&hash.to_string());
        assert_eq!(written, Some(hash));
        let keys = Keys::default()
            .with("ci", &Secret::new("right".to_owned()))
            .with_hash(Caller::keyholder("ann").in_roles(["writer"]), hash);
        let name = |presented| keys.owner(presented).map(|caller| caller.to_string());
        assert_eq!(name("right").as_deref(), Some("key:ci"));
        assert_eq!(name("wrong"), None);
        assert!(keys.owner("other").is_some_and(|caller| caller.is_in("writer")));
        assert!(!keys.is_empty() && Keys::default().is_empty() && Keys::default().owner("").is_none());
        assert!(!format!("{keys:?}").contains("right"));
    }

    #[test]
    fn only_hashes_are_read_as_hashes() {
        let digits = "0".repeat(64);
        assert!(KeyHash::parse(&format!("sha256:{digits}")).is_some());
        for odd in ["", "sha256:", "sha256:00", &digits, &format!("sha256:{}g", "0".repeat(63))] {
            assert_eq!(KeyHash::parse(odd), None, "{odd}");
        }
        assert_eq!(KeyHash::parse(&format!("sha256:{}", "é".repeat(32))), None);
    }
}
