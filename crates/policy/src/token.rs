//! Bearer tokens: JSON Web Tokens (RFC 7519) of one issuer, signed with a key of its key set.
//!
//! The algorithm follows from the key, never from the token alone: a token that names another than its key has is
//! refused, and so are `none` and everything with a shared secret.

mod claims;
mod key_set;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use crate::Caller;

use self::claims::caller;
use self::key_set::Algorithm;
pub use self::key_set::KeySet;

/// The longest token that is looked at.
const LONGEST: usize = 16 * 1024;

/// What a token must say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRules {
    /// Who made it.
    pub issuer: String,
    /// Whom it is for.
    pub audience: String,
    /// Where it says which roles its subject has; dots lead into objects.
    pub roles_claim: String,
    /// What it must allow.
    pub scopes: Vec<String>,
}

/// Why a token does not let anybody in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenFlaw {
    /// Something is wrong with it; for the operator alone.
    Bad(&'static str),
    /// Signed with a key that is not in the set.
    UnknownKey,
    /// Everything is right, but it does not allow enough.
    Scope,
}

impl TokenRules {
    /// Whether this may be a token at all, rather than a key.
    pub fn may_be(presented: &str) -> bool {
        presented.split('.').count() == 3
    }

    /// Who presents a token; `now` in seconds since 1970.
    pub fn verify(&self, token: &str, keys: &KeySet, now: u64) -> Result<Caller, TokenFlaw> {
        let claims = signed_claims(token, keys)?;
        caller(self, &claims, now)
    }
}

/// What a token says, once its signature is found to be right.
fn signed_claims(token: &str, keys: &KeySet) -> Result<Value, TokenFlaw> {
    let bad = TokenFlaw::Bad;
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
    let algorithm = text("alg").and_then(Algorithm::named);
    let algorithm = algorithm.ok_or(bad("it is signed by none of RS256, ES256 and EdDSA"))?;
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| bad("its signature is no base64url"))?;
    keys.verify(algorithm, text("kid"), message.as_bytes(), &signature)?;
    object(payload).ok_or(bad("its payload is no JSON object"))
}

fn object(part: &str) -> Option<Value> {
    let bytes = URL_SAFE_NO_PAD.decode(part).ok()?;
    serde_json::from_slice(&bytes).ok().filter(Value::is_object)
}
