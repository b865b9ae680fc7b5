//! What this program itself answers over REST: who somebody is, sessions, keys, and what happened lately.

use std::time::SystemTime;

use failwell_fault::{Fault, OrFault, Ref, reason};
use failwell_policy::{Caller, KeyHash, Role};
use failwell_render::{Moment, Outcome};
use failwell_rpc::Json;
use serde_json::{Map, Value, json};

use crate::guarding::Whose;
use crate::house::House;
use crate::key_ring::{Added, MadeKey, Revoked, WantedKey, fresh_key};
use crate::operations::Wanted;
use crate::rest_session::{Item, RestSession, SessionTerms};

/// What somebody wants of the program itself. Whether they may is known by now.
#[derive(Debug, Clone, PartialEq)]
pub enum OwnCall {
    /// Who they are, and as what they count.
    Me(Role),
    /// A new session.
    OpenSession(SessionTerms),
    /// All of their sessions.
    ListSessions,
    /// One of them.
    ShowSession(String),
    /// Let one go on.
    RenewSession {
        /// Which.
        id: String,
        /// How.
        terms: SessionTerms,
    },
    /// Let one go on as it is.
    Heartbeat(String),
    /// End one.
    EndSession(String),
    /// What one has under a key of its context.
    ReadItem {
        /// Which session.
        id: String,
        /// Under what.
        key: String,
    },
    /// Put something there.
    PutItem {
        /// Which session.
        id: String,
        /// Under what.
        key: String,
        /// What.
        value: Json,
    },
    /// A new key.
    MakeKey(WantedKey),
    /// All keys that were made.
    ListKeys,
    /// Take one back.
    RevokeKey(String),
    /// What happened lately.
    Operations {
        /// How many at the most.
        limit: usize,
        /// Which.
        wanted: Wanted,
    },
    /// To be told what happens from now on; the telling itself is the door's.
    Listen,
}

/// The method whose answer is shown this once and never kept.
pub(crate) const MAKES_KEY: &str = "keys/make";

impl OwnCall {
    pub(crate) fn target(&self) -> Option<&str> {
        match self {
            OwnCall::ShowSession(id)
            | OwnCall::RenewSession { id, .. }
            | OwnCall::Heartbeat(id)
            | OwnCall::EndSession(id)
            | OwnCall::ReadItem { id, .. }
            | OwnCall::PutItem { id, .. }
            | OwnCall::RevokeKey(id) => Some(id),
            OwnCall::MakeKey(wanted) => Some(&wanted.name),
            _ => None,
        }
    }

    pub(crate) fn method(&self) -> &'static str {
        match self {
            OwnCall::Me(_) => "me",
            OwnCall::OpenSession(_) => "sessions/open",
            OwnCall::ListSessions => "sessions/list",
            OwnCall::ShowSession(_) => "sessions/get",
            OwnCall::RenewSession { .. } => "sessions/renew",
            OwnCall::Heartbeat(_) => "sessions/heartbeat",
            OwnCall::EndSession(_) => "sessions/end",
            OwnCall::ReadItem { .. } => "sessions/context/get",
            OwnCall::PutItem { .. } => "sessions/context/put",
            OwnCall::MakeKey(_) => MAKES_KEY,
            OwnCall::ListKeys => "keys/list",
            OwnCall::RevokeKey(_) => "keys/revoke",
            OwnCall::Operations { .. } => "operations/list",
            OwnCall::Listen => "operations/listen",
        }
    }
}

impl House {
    pub(crate) async fn serve_own(
        &self,
        call: OwnCall,
        caller: &Caller,
        whose: Whose<'_>,
    ) -> Result<Outcome, Fault> {
        match call {
            OwnCall::Me(role) => value(&json!({
                "name": **caller.name(),
                "role": role.as_str(),
                "roles": caller.roles().collect::<Vec<_>>(),
            })),
            OwnCall::MakeKey(wanted) => self.make_key(wanted, caller).await,
            OwnCall::ListKeys => {
                let keys = match &self.settings.keys {
                    Some(ring) => ring.all().await?,
                    None => Vec::new(),
                };
                value(&json!({"keys": keys}))
            }
            OwnCall::RevokeKey(id) => self.revoke_key(&id).await,
            OwnCall::Operations { limit, wanted } => {
                value(&json!({"operations": self.books.operations().recent(limit, wanted)}))
            }
            OwnCall::Listen => value(&json!({})),
            of_sessions => self.serve_sessions(of_sessions, caller, whose).await,
        }
    }

    async fn serve_sessions(
        &self,
        call: OwnCall,
        caller: &Caller,
        whose: Whose<'_>,
    ) -> Result<Outcome, Fault> {
        let (kept, owner) = (&self.settings.sessions, &**caller.name());
        let known = |found: Option<RestSession>| found.ok_or_else(RestSession::unknown);
        match call {
            OwnCall::OpenSession(terms) => {
                let terms = self.clean_terms(terms, whose).await?;
                value(&kept.open(owner, terms).await?)
            }
            OwnCall::ListSessions => value(&json!({"sessions": kept.all(owner).await?})),
            OwnCall::ShowSession(id) => value(&known(kept.find(owner, &id).await?)?),
            OwnCall::RenewSession { id, terms } => {
                let terms = self.clean_terms(terms, whose).await?;
                value(&known(kept.renew(owner, &id, terms).await?)?)
            }
            OwnCall::Heartbeat(id) => value(&known(kept.renew(owner, &id, SessionTerms::default()).await?)?),
            OwnCall::EndSession(id) => match kept.end(owner, &id).await? {
                true => value(&json!({})),
                false => Err(RestSession::unknown()),
            },
            OwnCall::ReadItem { id, key } => match kept.item(owner, &id, &key).await? {
                Item::Found(found) => {
                    let key = Json::string(&key);
                    let members = [("key", key.raw()), ("value", found.raw())];
                    Ok(Outcome::Value(Json::object(members.into_iter())))
                }
                Item::Nothing => Err(Fault::new(&reason::SERVER_CONTEXT_UNKNOWN)),
                Item::NoSession => Err(RestSession::unknown()),
            },
            OwnCall::PutItem { id, key, value: put } => {
                let put = self.let_in_plain(whose, put.text()).await?.unwrap_or(put);
                value(&known(kept.put(owner, &id, &key, put).await?)?)
            }
            _ => Err(Fault::new(&reason::SERVER_BUG)),
        }
    }

    /// What is written on a session, without what the guards take out.
    async fn clean_terms(&self, terms: SessionTerms, whose: Whose<'_>) -> Result<SessionTerms, Fault> {
        let Some(metadata) = &terms.metadata else { return Ok(terms) };
        let text = Json::of(metadata).or_fault(&reason::SERVER_BUG)?;
        match self.let_in_plain(whose, text.text()).await? {
            None => Ok(terms),
            Some(clean) => {
                let metadata: Map<String, Value> = clean.raw().parse().or_fault(&reason::SERVER_BUG)?;
                Ok(SessionTerms { metadata: Some(metadata), ..terms })
            }
        }
    }

    async fn make_key(&self, wanted: WantedKey, caller: &Caller) -> Result<Outcome, Fault> {
        let ring = self.settings.keys.as_ref().ok_or_else(|| Fault::new(&reason::POLICY_KEYS_OFF))?;
        let key = fresh_key()?;
        let now = now_ms();
        let lasts = |seconds: u64| i64::try_from(seconds.saturating_mul(1_000)).unwrap_or(i64::MAX);
        let made = MadeKey {
            id: Ref::fresh().to_string(),
            name: wanted.name,
            roles: wanted.roles,
            made_by: caller.name().to_string(),
            created_ms: now,
            expires_ms: wanted.ttl_s.map(|seconds| now.saturating_add(lasts(seconds))),
        };
        match ring.add(&made, KeyHash::of(&key)).await? {
            Added::Taken => Err(Fault::new(&reason::POLICY_KEY_TAKEN)),
            Added::Full => Err(Fault::new(&reason::POLICY_KEYS_FULL).fact("limit", MadeKey::MOST)),
            Added::Done => {
                let mut shown = serde_json::to_value(&made).or_fault(&reason::SERVER_BUG)?;
                if let Some(members) = shown.as_object_mut() {
                    members.insert("key".to_owned(), json!(key.expose()));
                }
                value(&shown)
            }
        }
    }

    async fn revoke_key(&self, id: &str) -> Result<Outcome, Fault> {
        let unknown = || Fault::new(&reason::POLICY_KEY_UNKNOWN);
        match self.settings.keys.as_ref().ok_or_else(unknown)?.revoke(id).await? {
            Revoked::Done(key) => value(&key),
            Revoked::Unknown => Err(unknown()),
            Revoked::LastAdmin => Err(Fault::new(&reason::POLICY_LAST_ADMIN)),
        }
    }
}

/// Now, in milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    Moment::from(SystemTime::now()).unix_millis()
}

fn value(value: &impl serde::Serialize) -> Result<Outcome, Fault> {
    Ok(Outcome::Value(Json::of(value).or_fault(&reason::SERVER_BUG)?))
}
