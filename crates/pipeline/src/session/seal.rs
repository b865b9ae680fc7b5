//! `requestState`: the state of a stateless server. The client stores it and cannot change it.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Nonce};
use failwell_fault::{Fault, OrFault, Secret, reason};
use failwell_rpc::{Json, Limits};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// The maximum time for a client to answer.
const LIFETIME: Duration = Duration::from_secs(600);
/// The maximum size of a sealed state, in bytes.
const LARGEST: usize = 256 * 1024;
const NONCE: usize = 12;

/// Seals states with a key that only this process, or all nodes with shared state, know. The seal binds the
/// caller, the method, its arguments and the time.
pub(crate) struct Seal {
    cipher: Secret<ChaCha20Poly1305>,
}

#[derive(Serialize, Deserialize)]
struct SealedState {
    expires: u64,
    answers: BTreeMap<String, Box<RawValue>>,
}

impl Seal {
    /// Creates a seal with a new key.
    pub(crate) fn fresh() -> Result<Seal, Fault> {
        let mut key = [0u8; 32];
        getrandom::fill(&mut key).or_fault(&reason::SERVER_BUG)?;
        Ok(Seal { cipher: Secret::new(ChaCha20Poly1305::new(&key.into())) })
    }

    /// Creates a seal from the shared key of all nodes. Each pipeline derives its own key.
    pub(crate) fn shared(key: &Secret<[u8; 32]>, pipeline: &str) -> Seal {
        let own = Sha256::new().chain_update(key.expose()).chain_update(pipeline).finalize();
        Seal { cipher: Secret::new(ChaCha20Poly1305::new(&<[u8; 32]>::from(own).into())) }
    }

    /// Seals the answers so far, for one request of one caller.
    pub(crate) fn seal(&self, answers: &BTreeMap<String, Json>, bound_to: &[u8]) -> Result<String, Fault> {
        let answers = answers
            .iter()
            .map(|(key, json)| Ok((key.clone(), RawValue::from_string(json.text().to_owned())?)))
            .collect::<Result<_, serde_json::Error>>()
            .or_fault(&reason::SERVER_BUG)?;
        let sealed = SealedState { expires: now() + LIFETIME.as_secs(), answers };
        let plain = serde_json::to_vec(&sealed).or_fault(&reason::SERVER_BUG)?;
        let mut nonce = [0u8; NONCE];
        getrandom::fill(&mut nonce).or_fault(&reason::SERVER_BUG)?;
        let payload = Payload { msg: &plain, aad: bound_to };
        let hidden = self
            .cipher
            .expose()
            .encrypt(&Nonce::from(nonce), payload)
            .map_err(|_| Fault::new(&reason::SERVER_BUG).note("seal", "encryption failed"))?;
        Ok(URL_SAFE_NO_PAD.encode([nonce.as_slice(), &hidden].concat()))
    }

    /// Opens a state. Modified, expired and foreign states return the same fault.
    pub(crate) fn open(&self, state: &str, bound_to: &[u8]) -> Result<BTreeMap<String, Json>, Fault> {
        self.try_open(state, bound_to).ok_or_else(|| Fault::new(&reason::MCP_BAD_STATE))
    }

    fn try_open(&self, state: &str, bound_to: &[u8]) -> Option<BTreeMap<String, Json>> {
        if state.len() > LARGEST {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(state).ok()?;
        let (nonce, hidden) = bytes.split_at_checked(NONCE)?;
        let nonce: [u8; NONCE] = nonce.try_into().ok()?;
        let payload = Payload { msg: hidden, aad: bound_to };
        let plain = self.cipher.expose().decrypt(&Nonce::from(nonce), payload).ok()?;
        let sealed: SealedState = serde_json::from_slice(&plain).ok()?;
        if sealed.expires < now() {
            return None;
        }
        let read = |raw: Box<RawValue>| Json::read(raw.get(), &Limits::default()).ok();
        sealed.answers.into_iter().map(|(key, raw)| Some((key, read(raw)?))).collect()
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::Seal;
    use failwell_fault::Secret;
    use failwell_rpc::Json;
    use std::collections::BTreeMap;

    #[test]
    fn what_was_sealed_opens_only_unchanged_and_for_the_same_request() {
        let seal = Seal::fresh().expect("a key");
        let answers = BTreeMap::from([("a".to_owned(), Json::of(&5).expect("json"))]);
        let state = seal.seal(&answers, b"me+call").expect("sealed");
        assert_eq!(seal.open(&state, b"me+call").expect("opens"), answers);
        assert!(seal.open(&state, b"you+call").is_err());
        assert!(seal.open(&format!("{state}-TAMPERED"), b"me+call").is_err());
        assert!(seal.open("", b"me+call").is_err());
        let mut edited = state.clone().into_bytes();
        edited[20] = if edited[20] == b'A' { b'B' } else { b'A' };
        assert!(seal.open(&String::from_utf8(edited).expect("ascii"), b"me+call").is_err());
        assert!(Seal::fresh().expect("another key").open(&state, b"me+call").is_err());
        let key = Secret::new([7; 32]);
        let state = Seal::shared(&key, "a").seal(&answers, b"me+call").expect("sealed");
        assert!(Seal::shared(&key, "a").open(&state, b"me+call").is_ok(), "on another node");
        assert!(Seal::shared(&key, "b").open(&state, b"me+call").is_err(), "in another pipeline");
    }
}
