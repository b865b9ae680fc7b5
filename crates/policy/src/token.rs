//! Bearer tokens: JSON Web Tokens (RFC 7519) of one issuer, signed with a key of its key set.
//!
//! The key determines the algorithm. A token that names another algorithm is refused; so are `none` and all
//! algorithms with a shared secret.

mod claims;
mod key_set;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use failwell_rpc::Caller;

use self::claims::caller;
use self::key_set::Algorithm;
pub use self::key_set::KeySet;

/// Maximum length of a token in bytes.
const LONGEST: usize = 16 * 1024;

/// Requirements for a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRules {
    pub issuer: String,
    pub audience: String,
    /// The claim that lists the roles of the subject; dots select nested members.
    pub roles_claim: String,
    /// Scopes that the token must grant.
    pub scopes: Vec<String>,
}

/// The reason why a token is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenError {
    /// The token is invalid. The text is for the operator only.
    Bad(&'static str),
    /// The token is signed with a key that is not in the set.
    UnknownKey,
    /// The token is valid, but lacks a required scope.
    Scope,
}

impl TokenRules {
    /// Distinguishes a token from an API key by its three parts.
    pub fn may_be(presented: &str) -> bool {
        presented.split('.').count() == 3
    }

    /// Verifies a token and returns its subject as the caller. `now` is in seconds since 1970.
    pub fn verify(&self, token: &str, keys: &KeySet, now: u64) -> Result<Caller, TokenError> {
        let claims = signed_claims(token, keys)?;
        caller(self, &claims, now)
    }
}

/// Returns the claims of a token after verifying its signature.
fn signed_claims(token: &str, keys: &KeySet) -> Result<Value, TokenError> {
    let bad = TokenError::Bad;
    if token.len() > LONGEST {
        return Err(bad("it is too long"));
    }
    let (message, signature) = token.rsplit_once('.').ok_or(bad("it has no signature"))?;
    let (header, payload) = message.split_once('.').ok_or(bad("it has no payload"))?;
    let header = object(header).ok_or(bad("its header is no JSON object"))?;
    let text = |name: &str| header.get(name).and_then(Value::as_str);
    if header.get("crit").is_some() {
        return Err(bad("its header asks for an extension"));
    }
    let kind = text("typ").unwrap_or("JWT");
    if !["jwt", "at+jwt", "application/at+jwt"].iter().any(|known| kind.eq_ignore_ascii_case(known)) {
        return Err(bad("it is another sort of token"));
    }
    let algorithm = text("alg").and_then(Algorithm::parse);
    let algorithm = algorithm.ok_or(bad("it is signed by none of RS256, ES256 and EdDSA"))?;
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| bad("its signature is no base64url"))?;
    if header.get("kid").is_some_and(|kid| !kid.is_string()) {
        return Err(bad("its key id is no text"));
    }
    keys.verify(algorithm, text("kid"), message.as_bytes(), &signature)?;
    object(payload).ok_or(bad("its payload is no JSON object"))
}

fn object(part: &str) -> Option<Value> {
    let bytes = URL_SAFE_NO_PAD.decode(part).ok()?;
    serde_json::from_slice(&bytes).ok().filter(Value::is_object)
}
