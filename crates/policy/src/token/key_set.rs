use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde_json::Value;

use super::TokenError;

/// Maximum number of keys in a set.
const MOST: usize = 64;
/// Maximum number of keys tried for a token without a key id.
const TRIES: usize = 8;

/// The public keys of an issuer (RFC 7517).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeySet(Vec<VerificationKey>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct VerificationKey {
    id: Option<String>,
    public: PublicKey,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PublicKey {
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

/// Supported signature algorithms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    Rs256,
    Es256,
    EdDsa,
}

impl Algorithm {
    pub(super) fn parse(name: &str) -> Option<Algorithm> {
        match name {
            "RS256" => Some(Algorithm::Rs256),
            "ES256" => Some(Algorithm::Es256),
            "EdDSA" => Some(Algorithm::EdDsa),
            _ => None,
        }
    }
}

impl KeySet {
    /// Reads a key set and skips keys of unsupported types. Returns `None` if no key remains, or if the text
    /// is no key set.
    pub fn parse(text: &[u8]) -> Option<KeySet> {
        let set: Value = serde_json::from_slice(text).ok()?;
        let keys = set.get("keys")?.as_array()?;
        let keys: Vec<VerificationKey> = keys.iter().filter_map(VerificationKey::read).take(MOST).collect();
        (!keys.is_empty()).then_some(KeySet(keys))
    }

    pub(super) fn verify(
        &self,
        algorithm: Algorithm,
        id: Option<&str>,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), TokenError> {
        let fitting = self.0.iter().filter(|key| id.is_none_or(|id| key.id.as_deref() == Some(id)));
        let mut fitting = fitting.filter(|key| key.public.algorithm() == algorithm).take(TRIES).peekable();
        if fitting.peek().is_none() {
            // The named key has another algorithm. Fetching newer keys would not help.
            let is_named = id.is_some_and(|id| self.0.iter().any(|key| key.id.as_deref() == Some(id)));
            let other = TokenError::Bad("it names another algorithm than its key has");
            return Err(if is_named { other } else { TokenError::UnknownKey });
        }
        match fitting.any(|key| key.public.signed(message, signature)) {
            true => Ok(()),
            false => Err(TokenError::Bad("its signature is wrong")),
        }
    }
}

impl VerificationKey {
    fn read(key: &Value) -> Option<VerificationKey> {
        let text = |name: &str| key.get(name).and_then(Value::as_str);
        let bytes = |name: &str| text(name).and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
        if text("use").is_some_and(|what| what != "sig") {
            return None;
        }
        let public = match (text("kty")?, text("crv")) {
            ("RSA", _) => PublicKey::Rsa { modulus: bytes("n")?, exponent: bytes("e")? },
            ("EC", Some("P-256")) => {
                PublicKey::P256([vec![4], padded(bytes("x")?)?, padded(bytes("y")?)?].concat())
            }
            ("OKP", Some("Ed25519")) => PublicKey::Ed25519(bytes("x")?),
            _ => return None,
        };
        let agrees = text("alg").is_none_or(|name| Algorithm::parse(name) == Some(public.algorithm()));
        agrees.then(|| VerificationKey { id: text("kid").map(str::to_owned), public })
    }
}

/// Pads a coordinate with zeros to 32 bytes.
fn padded(bytes: Vec<u8>) -> Option<Vec<u8>> {
    let missing = 32usize.checked_sub(bytes.len())?;
    Some([vec![0; missing], bytes].concat())
}

impl PublicKey {
    fn algorithm(&self) -> Algorithm {
        match self {
            PublicKey::Rsa { .. } => Algorithm::Rs256,
            PublicKey::P256(_) => Algorithm::Es256,
            PublicKey::Ed25519(_) => Algorithm::EdDsa,
        }
    }

    fn signed(&self, message: &[u8], signature: &[u8]) -> bool {
        match self {
            PublicKey::Rsa { modulus, exponent } => RsaPublicKeyComponents { n: modulus, e: exponent }
                .verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
                .is_ok(),
            PublicKey::P256(point) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature).is_ok()
            }
            PublicKey::Ed25519(point) => {
                UnparsedPublicKey::new(&ED25519, point).verify(message, signature).is_ok()
            }
        }
    }
}
