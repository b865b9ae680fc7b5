use failwell_fault::{Fault, Secret, reason};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use crate::Caller;

/// The keys that open the door. None at all means that the door is open to this machine.
#[derive(Debug, Default)]
pub struct Keys(Vec<(String, [u8; 32])>);

impl Keys {
    /// Adds a key under a name. Only its hash is kept.
    #[must_use]
    pub fn with(mut self, name: &str, key: &Secret<String>) -> Keys {
        self.0.push((name.to_owned(), hash(key.expose())));
        self
    }

    /// Who the presented key belongs to. Every key is compared, so that time tells nothing.
    pub fn admit(&self, presented: Option<&str>) -> Result<Caller, Fault> {
        if self.0.is_empty() {
            return Ok(Caller::anonymous());
        }
        let Some(presented) = presented else {
            return Err(Fault::new(&reason::POLICY_UNAUTHENTICATED));
        };
        let presented = hash(presented);
        let mut found = None;
        for (name, known) in &self.0 {
            if Choice::into(known.as_slice().ct_eq(presented.as_slice())) {
                found = Some(Caller::keyholder(name));
            }
        }
        found.ok_or_else(|| Fault::new(&reason::POLICY_BAD_CREDENTIALS))
    }
}

fn hash(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::Keys;
    use failwell_fault::Secret;

    #[test]
    fn keys_open_and_wrong_ones_do_not() {
        let keys = Keys::default().with("ci", &Secret::new("right".to_owned()));
        assert_eq!(keys.admit(Some("right")).map(|c| c.to_string()).ok().as_deref(), Some("key:ci"));
        let reason = |presented| keys.admit(presented).map_err(|f| f.reason().id).err();
        assert_eq!(reason(Some("wrong")), Some("policy/BAD_CREDENTIALS"));
        assert_eq!(reason(None), Some("policy/UNAUTHENTICATED"));
        assert_eq!(Keys::default().admit(None).map(|c| c.to_string()).ok().as_deref(), Some("anonymous"));
        assert!(!format!("{keys:?}").contains("right"));
    }
}
