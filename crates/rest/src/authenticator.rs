//! Authentication of callers. A reload replaces all credentials at once.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use arc_swap::{ArcSwap, Guard};
use failwell_fault::{Fault, Secret, reason};
use failwell_policy::{KeyHash, Keys, TokenError, TokenRules};
use failwell_rpc::Caller;
use failwell_store::{KeyStore, looks_like_key};
use http::header::HeaderValue;
use serde_json::json;

use failwell_transport::paths::{Credential, METADATA, RequestHead, RoutePlace};
use failwell_transport::{Authenticate, Authentication};

use crate::issuer::Issuer;

/// Checks credentials. If none are configured, every caller is anonymous. The program then
/// listens on loopback only.
#[derive(Debug, Default)]
pub struct Authenticator(ArcSwap<Credentials>);

/// The accepted credentials.
#[derive(Debug, Default)]
pub struct Credentials {
    /// Keys of the configuration.
    pub keys: Keys,
    pub tokens: Option<Tokens>,
    /// Keys that are created at run time.
    pub key_store: Option<Arc<dyn KeyStore>>,
    pub demand: AuthRequirement,
}

/// The condition under which callers must authenticate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AuthRequirement {
    /// If the configuration has keys or tokens.
    #[default]
    WhenConfigured,
    Always,
}

/// Tokens of one issuer.
#[derive(Debug)]
pub struct Tokens {
    pub rules: TokenRules,
    pub issuer: Issuer,
    /// The public URL of this server, such as `https://tools.example`; `None` uses the `Host` header.
    pub address: Option<String>,
}

impl Credentials {
    /// Returns true if callers need no credentials.
    pub fn are_none(&self) -> bool {
        self.keys.is_empty() && self.tokens.is_none() && self.demand == AuthRequirement::WhenConfigured
    }
}

impl From<Credentials> for Authenticator {
    fn from(credentials: Credentials) -> Authenticator {
        Authenticator(ArcSwap::from_pointee(credentials))
    }
}

impl From<Keys> for Authenticator {
    fn from(keys: Keys) -> Authenticator {
        Authenticator::from(Credentials { keys, ..Credentials::default() })
    }
}

impl Authenticator {
    pub fn replace(&self, credentials: Credentials) {
        self.0.store(credentials.into());
    }
}

impl Authenticate for Authenticator {
    fn admit<'a>(&'a self, presented: Option<Credential<'a>>) -> Authentication<'a> {
        let now = self.0.load();
        if now.are_none() {
            return Authentication::Now(Ok(Caller::anonymous()));
        }
        let Some(credential) = presented else {
            return Authentication::Now(Err(Fault::new(&reason::POLICY_UNAUTHENTICATED)));
        };
        let presented = credential.text();
        if let Some(owner) = now.keys.owner(presented) {
            return Authentication::Now(Ok(owner));
        }
        if let Some(key_store) = now.key_store.as_ref().filter(|_| looks_like_key(presented)).cloned() {
            let hash = KeyHash::new(&Secret::new(presented.to_owned()));
            return Authentication::Pending(Box::pin(async move {
                key_store.holder(hash).await?.ok_or_else(|| Fault::new(&reason::POLICY_BAD_CREDENTIALS))
            }));
        }
        // `X-API-Key` is for keys only.
        let is_bearer = matches!(credential, Credential::Bearer(_));
        if now.tokens.is_none() || !is_bearer || !TokenRules::may_be(presented) {
            return Authentication::Now(Err(Fault::new(&reason::POLICY_BAD_CREDENTIALS)));
        }
        Authentication::Pending(Box::pin(bearer(Guard::into_inner(now), presented)))
    }

    fn is_open(&self) -> bool {
        self.0.load().are_none()
    }

    fn knows(&self, caller: &Caller) -> bool {
        self.0.load().keys.owners().any(|owner| owner == caller)
    }

    /// The `WWW-Authenticate` header of a refusal, if tokens are accepted.
    fn challenge(&self, refusal: &Fault, head: &RequestHead<'_>) -> Option<HeaderValue> {
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
        let path = if head.place == RoutePlace::Mcp { head.path } else { "" };
        let place = format!("{}{METADATA}{path}", tokens.address(head)?);
        HeaderValue::from_str(&format!("Bearer {error}{scope}resource_metadata=\"{place}\"")).ok()
    }

    /// The protected resource metadata; `None` if tokens are not accepted.
    fn metadata(&self, head: &RequestHead<'_>) -> Option<String> {
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
    /// The URL of this server as the client uses it. The host has been checked before.
    fn address(&self, head: &RequestHead<'_>) -> Option<String> {
        match &self.address {
            Some(address) => Some(address.trim_end_matches('/').to_owned()),
            None => head.host().map(|host| format!("http://{host}")),
        }
    }
}

/// Verifies a token. If its key is unknown, the issuer's keys are fetched again.
async fn bearer(now: Arc<Credentials>, token: &str) -> Result<Caller, Fault> {
    let Some(Tokens { rules, issuer, .. }) = &now.tokens else {
        return Err(Fault::new(&reason::POLICY_BAD_CREDENTIALS));
    };
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let keys = issuer.keys().await?;
    let verdict = match rules.verify(token, &keys, clock) {
        Err(TokenError::UnknownKey) => match issuer.newer(&keys).await {
            Some(newer) => rules.verify(token, &newer, clock),
            None => Err(TokenError::UnknownKey),
        },
        verdict => verdict,
    };
    verdict.map_err(|flaw| match flaw {
        TokenError::Bad(why) => Fault::new(&reason::POLICY_BAD_TOKEN).note("token", why),
        TokenError::UnknownKey => {
            Fault::new(&reason::POLICY_BAD_TOKEN).note("token", "its key is not in the issuer's set")
        }
        TokenError::Scope => Fault::new(&reason::POLICY_SCOPE),
    })
}
