//! Who may come in. A reload replaces all of it at once.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use arc_swap::{ArcSwap, Guard};
use failwell_fault::{Fault, Secret, reason};
use failwell_policy::{Caller, KeyHash, Keys, TokenFlaw, TokenRules};
use failwell_server::{KeyRing, looks_like_key};
use http::header::HeaderValue;
use serde_json::json;

use super::issuer::Issuer;
use super::request::Head;
use super::routes::Place;

/// Where a client finds out how to get a token (RFC 9728).
pub(super) const METADATA: &str = "/.well-known/oauth-protected-resource";

/// What opens the door. With nothing at all it is open to this machine.
#[derive(Debug, Default)]
pub struct Lock(ArcSwap<Credentials>);

/// What callers may present.
#[derive(Debug, Default)]
pub struct Credentials {
    /// Keys.
    pub keys: Keys,
    /// Tokens.
    pub tokens: Option<Tokens>,
    /// Keys that are made while the program runs.
    pub ring: Option<Arc<dyn KeyRing>>,
    /// Whether everybody has to present something, even if nothing else is known here.
    pub demand: Demand,
}

/// Whether callers have to present something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Demand {
    /// When there are keys of the configuration, or tokens.
    #[default]
    WhereKnown,
    /// Always.
    Always,
}

/// Tokens of one issuer.
#[derive(Debug)]
pub struct Tokens {
    /// What they must say.
    pub rules: TokenRules,
    /// Whose keys they must be signed with.
    pub issuer: Issuer,
    /// What clients call this server, such as `https://tools.example`; `None` for whatever they used.
    pub address: Option<String>,
}

impl Credentials {
    /// Whether nobody has to present anything.
    pub fn are_none(&self) -> bool {
        self.keys.is_empty() && self.tokens.is_none() && self.demand == Demand::WhereKnown
    }
}

impl From<Credentials> for Lock {
    fn from(credentials: Credentials) -> Lock {
        Lock(ArcSwap::from_pointee(credentials))
    }
}

impl From<Keys> for Lock {
    fn from(keys: Keys) -> Lock {
        Lock::from(Credentials { keys, ..Credentials::default() })
    }
}

impl Lock {
    /// Something else opens it from now on.
    pub fn replace(&self, credentials: Credentials) {
        self.0.store(credentials.into());
    }

    /// Who presents this.
    pub(super) async fn admit(&self, presented: Option<&str>) -> Result<Caller, Fault> {
        let now = self.0.load();
        if now.are_none() {
            return Ok(Caller::anonymous());
        }
        let presented = presented.ok_or_else(|| Fault::new(&reason::POLICY_UNAUTHENTICATED))?;
        if let Some(owner) = now.keys.owner(presented) {
            return Ok(owner);
        }
        if let Some(ring) = now.ring.as_ref().filter(|_| looks_like_key(presented)).cloned() {
            drop(now);
            let hash = KeyHash::of(&Secret::new(presented.to_owned()));
            // Rare and large, so kept apart: what every request is made of stays small.
            let holder = Box::pin(ring.holder(hash)).await?;
            return holder.ok_or_else(|| Fault::new(&reason::POLICY_BAD_CREDENTIALS));
        }
        if now.tokens.is_none() || !TokenRules::may_be(presented) {
            return Err(Fault::new(&reason::POLICY_BAD_CREDENTIALS));
        }
        // Rare and large, so kept apart: what every request is made of stays small.
        Box::pin(bearer(Guard::into_inner(now), presented)).await
    }

    /// Whether nobody has to present anything.
    pub(super) fn is_open(&self) -> bool {
        self.0.load().are_none()
    }

    /// Whether a key of the configuration belongs to this caller.
    pub(super) fn knows(&self, caller: &Caller) -> bool {
        self.0.load().keys.owners().any(|owner| owner == caller)
    }

    /// How a refusal tells its client what to do, where tokens are taken.
    pub(super) fn challenge(&self, refusal: &Fault, head: &Head<'_>) -> Option<HeaderValue> {
        let now = self.0.load();
        let tokens = now.tokens.as_ref()?;
        let error = match refusal.reason() {
            missing if *missing == reason::POLICY_UNAUTHENTICATED => "",
            scope if *scope == reason::POLICY_SCOPE => "error=\"insufficient_scope\", ",
            bad if *bad == reason::POLICY_BAD_CREDENTIALS || *bad == reason::POLICY_BAD_TOKEN => {
                "error=\"invalid_token\", "
            }
            _ => return None,
        };
        let scopes = tokens.rules.scopes.join(" ");
        let scope = if scopes.is_empty() { String::new() } else { format!("scope=\"{scopes}\", ") };
        let path = if head.place == Place::Mcp { head.path } else { "" };
        let place = format!("{}{METADATA}{path}", tokens.address(head)?);
        HeaderValue::from_str(&format!("Bearer {error}{scope}resource_metadata=\"{place}\"")).ok()
    }

    /// What a client must know to get a token; `None` where none are taken.
    pub(super) fn metadata(&self, head: &Head<'_>) -> Option<String> {
        let now = self.0.load();
        let tokens = now.tokens.as_ref()?;
        let path = head.path.strip_prefix(METADATA)?;
        let document = json!({
            "resource": format!("{}{path}", tokens.address(head)?),
            "resource_name": "Failwell",
            "authorization_servers": [tokens.rules.issuer],
            "scopes_supported": tokens.rules.scopes,
            "bearer_methods_supported": ["header"],
        });
        Some(document.to_string())
    }
}

impl Tokens {
    /// What this client calls the server. A host that is not ours never gets as far as here.
    fn address(&self, head: &Head<'_>) -> Option<String> {
        match &self.address {
            Some(address) => Some(address.trim_end_matches('/').to_owned()),
            None => head.host().map(|host| format!("http://{host}")),
        }
    }
}

/// Who presents a token. One that is signed with a key nobody here knows is worth a look for newer keys.
async fn bearer(now: Arc<Credentials>, token: &str) -> Result<Caller, Fault> {
    let Some(Tokens { rules, issuer, .. }) = &now.tokens else {
        return Err(Fault::new(&reason::POLICY_BAD_CREDENTIALS));
    };
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let keys = issuer.keys().await?;
    let verdict = match rules.verify(token, &keys, clock) {
        Err(TokenFlaw::UnknownKey) => match issuer.newer(&keys).await {
            Some(newer) => rules.verify(token, &newer, clock),
            None => Err(TokenFlaw::UnknownKey),
        },
        verdict => verdict,
    };
    verdict.map_err(|flaw| match flaw {
        TokenFlaw::Bad(why) => Fault::new(&reason::POLICY_BAD_TOKEN).note("token", why),
        TokenFlaw::UnknownKey => {
            Fault::new(&reason::POLICY_BAD_TOKEN).note("token", "its key is not in the issuer's set")
        }
        TokenFlaw::Scope => Fault::new(&reason::POLICY_SCOPE),
    })
}
