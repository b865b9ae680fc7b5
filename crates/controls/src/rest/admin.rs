//! REST calls about the program itself: the caller, its sessions, keys, and recent operations.

use std::borrow::Cow;
use std::fmt;
use std::time::SystemTime;

use failwell_fault::{Fault, OrFault, Ref, reason};
use failwell_pipeline::{ExtensionCall, ExtensionOutcome, ExtensionRequest, ResponseContent};
use failwell_policy::KeyHash;
use failwell_render::Moment;
use failwell_rpc::Role;
use failwell_rpc::{Caller, Json};
use failwell_toolbox::Work;
use serde_json::{Map, Value, json};

use crate::rest::rest_session::{Item, RestSession, SessionTerms};
use crate::services::OperatorServices;
use crate::telemetry::operations::OperationFilter;
use failwell_store::{AddKeyResult, ApiKey, KeyRequest, RevokeKeyResult, generate_key};

/// A call about the program itself. The caller is authorized already.
#[derive(Debug, Clone, PartialEq)]
pub enum AdminCall {
    /// The caller's identity and role.
    Me(Role),
    OpenSession(SessionTerms),
    /// All sessions of the caller.
    ListSessions,
    ShowSession(String),
    /// Extends a session.
    RenewSession {
        id: String,
        terms: SessionTerms,
    },
    /// Extends a session without changes.
    Heartbeat(String),
    EndSession(String),
    /// Reads a value of a session's context.
    ReadItem {
        id: String,
        key: String,
    },
    /// Sets a value of a session's context.
    PutItem {
        id: String,
        key: String,
        value: Json,
    },
    MakeKey(KeyRequest),
    /// All keys that were created at run time.
    ListKeys,
    RevokeKey(String),
    /// Recent operations.
    Operations {
        limit: usize,
        wanted: OperationFilter,
    },
    /// The servers behind the program.
    Servers,
    /// Subscribes to operations. The transport sends the events.
    Listen,
}

impl AdminCall {
    fn target(&self) -> Option<&str> {
        match self {
            AdminCall::ShowSession(id)
            | AdminCall::RenewSession { id, .. }
            | AdminCall::Heartbeat(id)
            | AdminCall::EndSession(id)
            | AdminCall::ReadItem { id, .. }
            | AdminCall::PutItem { id, .. }
            | AdminCall::RevokeKey(id) => Some(id),
            AdminCall::MakeKey(wanted) => Some(&wanted.name),
            _ => None,
        }
    }

    fn method(&self) -> &'static str {
        match self {
            AdminCall::Me(_) => "me",
            AdminCall::OpenSession(_) => "sessions/open",
            AdminCall::ListSessions => "sessions/list",
            AdminCall::ShowSession(_) => "sessions/get",
            AdminCall::RenewSession { .. } => "sessions/renew",
            AdminCall::Heartbeat(_) => "sessions/heartbeat",
            AdminCall::EndSession(_) => "sessions/end",
            AdminCall::ReadItem { .. } => "sessions/context/get",
            AdminCall::PutItem { .. } => "sessions/context/put",
            AdminCall::MakeKey(_) => "keys/make",
            AdminCall::ListKeys => "keys/list",
            AdminCall::RevokeKey(_) => "keys/revoke",
            AdminCall::Operations { .. } => "operations/list",
            AdminCall::Servers => "servers/list",
            AdminCall::Listen => "operations/listen",
        }
    }

    /// The JSON that guards inspect.
    fn content(&self) -> Result<Option<Cow<'_, str>>, Fault> {
        match self {
            AdminCall::OpenSession(terms) | AdminCall::RenewSession { terms, .. } => {
                let json = terms.metadata.as_ref().map(Json::of).transpose().or_fault(&reason::SERVER_BUG)?;
                Ok(json.map(|json| Cow::Owned(json.text().to_owned())))
            }
            AdminCall::PutItem { value, .. } => Ok(Some(Cow::Borrowed(value.text()))),
            _ => Ok(None),
        }
    }

    /// Returns the same call with its redacted content.
    fn with_content(self, clean: Json) -> Result<AdminCall, Fault> {
        let terms_of = |terms: SessionTerms| {
            let metadata: Map<String, Value> = clean.raw().parse().or_fault(&reason::SERVER_BUG)?;
            Ok(SessionTerms { metadata: Some(metadata), ..terms })
        };
        Ok(match self {
            AdminCall::OpenSession(terms) => AdminCall::OpenSession(terms_of(terms)?),
            AdminCall::RenewSession { id, terms } => AdminCall::RenewSession { id, terms: terms_of(terms)? },
            AdminCall::PutItem { id, key, .. } => AdminCall::PutItem { id, key, value: clean },
            other => other,
        })
    }
}

/// A call about the program itself, with the services it uses.
pub(crate) struct AdminRequest {
    pub(crate) call: AdminCall,
    pub(crate) services: OperatorServices,
}

impl fmt::Debug for AdminRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AdminRequest").field(&self.call).finish()
    }
}

impl ExtensionCall for AdminRequest {
    fn method(&self) -> &'static str {
        self.call.method()
    }

    fn target(&self) -> Option<&str> {
        self.call.target()
    }

    fn content(&self) -> Result<Option<Cow<'_, str>>, Fault> {
        self.call.content()
    }

    fn with_content(self: Box<Self>, clean: Json) -> Result<Box<dyn ExtensionCall>, Fault> {
        Ok(Box::new(AdminRequest { call: self.call.with_content(clean)?, services: self.services }))
    }

    fn response(&self) -> ResponseContent {
        match self.call {
            AdminCall::MakeKey(_) => ResponseContent::Secret,
            _ => ResponseContent::Guarded,
        }
    }

    fn serve(self: Box<Self>, request: ExtensionRequest) -> Work<ExtensionOutcome> {
        Box::pin(async move { self.services.serve_admin(self.call, &request.cx.client().caller).await })
    }
}

impl OperatorServices {
    async fn serve_admin(&self, call: AdminCall, caller: &Caller) -> Result<ExtensionOutcome, Fault> {
        match call {
            AdminCall::Me(role) => value(&json!({
                "name": **caller.name(),
                "role": role.as_str(),
                "roles": caller.roles().collect::<Vec<_>>(),
            })),
            AdminCall::MakeKey(wanted) => self.make_key(wanted, caller).await,
            AdminCall::ListKeys => {
                let keys = match &self.keys {
                    Some(key_store) => key_store.all().await?,
                    None => Vec::new(),
                };
                value(&json!({"keys": keys}))
            }
            AdminCall::RevokeKey(id) => self.revoke_key(&id).await,
            AdminCall::Operations { limit, wanted } => {
                value(&json!({"operations": self.telemetry.operations().recent(limit, wanted)}))
            }
            AdminCall::Servers => value(&json!({"servers": self.servers.servers(Some(caller))})),
            AdminCall::Listen => value(&json!({})),
            of_sessions => self.serve_sessions(of_sessions, caller).await,
        }
    }

    async fn serve_sessions(&self, call: AdminCall, caller: &Caller) -> Result<ExtensionOutcome, Fault> {
        let (kept, owner) = (&self.sessions, &**caller.name());
        let known = |found: Option<RestSession>| found.ok_or_else(RestSession::unknown);
        match call {
            AdminCall::OpenSession(terms) => value(&kept.open(owner, terms).await?),
            AdminCall::ListSessions => value(&json!({"sessions": kept.all(owner).await?})),
            AdminCall::ShowSession(id) => value(&known(kept.find(owner, &id).await?)?),
            AdminCall::RenewSession { id, terms } => value(&known(kept.renew(owner, &id, terms).await?)?),
            AdminCall::Heartbeat(id) => {
                value(&known(kept.renew(owner, &id, SessionTerms::default()).await?)?)
            }
            AdminCall::EndSession(id) => match kept.end(owner, &id).await? {
                true => value(&json!({})),
                false => Err(RestSession::unknown()),
            },
            AdminCall::ReadItem { id, key } => match kept.item(owner, &id, &key).await? {
                Item::Found(found) => {
                    let key = Json::string(&key);
                    let members = [("key", key.raw()), ("value", found.raw())];
                    Ok(Json::object(members.into_iter()).into())
                }
                Item::Nothing => Err(Fault::new(&reason::SERVER_CONTEXT_UNKNOWN)),
                Item::NoSession => Err(RestSession::unknown()),
            },
            AdminCall::PutItem { id, key, value: put } => {
                value(&known(kept.put(owner, &id, &key, put).await?)?)
            }
            _ => Err(Fault::new(&reason::SERVER_BUG)),
        }
    }

    async fn make_key(&self, wanted: KeyRequest, caller: &Caller) -> Result<ExtensionOutcome, Fault> {
        let key_store = self.keys.as_ref().ok_or_else(|| Fault::new(&reason::POLICY_KEYS_OFF))?;
        let key = generate_key()?;
        let now = now_ms();
        let lasts = |seconds: u64| i64::try_from(seconds.saturating_mul(1_000)).unwrap_or(i64::MAX);
        let made = ApiKey {
            id: Ref::fresh().to_string(),
            name: wanted.name,
            roles: wanted.roles,
            made_by: caller.name().to_string(),
            created_ms: now,
            expires_ms: wanted.ttl_s.map(|seconds| now.saturating_add(lasts(seconds))),
        };
        match key_store.add(&made, KeyHash::new(&key)).await? {
            AddKeyResult::Taken => Err(Fault::new(&reason::POLICY_KEY_TAKEN)),
            AddKeyResult::Full => Err(Fault::new(&reason::POLICY_KEYS_FULL).fact("limit", ApiKey::MOST)),
            AddKeyResult::Done => {
                let mut shown = serde_json::to_value(&made).or_fault(&reason::SERVER_BUG)?;
                if let Some(members) = shown.as_object_mut() {
                    members.insert("key".to_owned(), json!(key.expose()));
                }
                value(&shown)
            }
        }
    }

    async fn revoke_key(&self, id: &str) -> Result<ExtensionOutcome, Fault> {
        let unknown = || Fault::new(&reason::POLICY_KEY_UNKNOWN);
        match self.keys.as_ref().ok_or_else(unknown)?.revoke(id).await? {
            RevokeKeyResult::Done(key) => value(&key),
            RevokeKeyResult::Unknown => Err(unknown()),
            RevokeKeyResult::LastAdmin => Err(Fault::new(&reason::POLICY_LAST_ADMIN)),
        }
    }
}

fn now_ms() -> i64 {
    Moment::from(SystemTime::now()).unix_millis()
}

fn value(value: &impl serde::Serialize) -> Result<ExtensionOutcome, Fault> {
    Ok(Json::of(value).or_fault(&reason::SERVER_BUG)?.into())
}
