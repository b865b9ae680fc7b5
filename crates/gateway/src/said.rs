//! What an upstream answered.

use failwell_fault::{Effect, Excerpt, Fault, reason};
use failwell_render::{Cache, CacheScope};
use failwell_rpc::{Json, Kind, Raw, Response, meta};
use failwell_server::{Capability, Members, TASKS_EXTENSION};

use crate::line::garbled;

/// An answer with the right shape.
#[derive(Debug)]
pub(crate) enum Said {
    /// A result object.
    Result(Json),
    /// A JSON-RPC error.
    Error {
        /// Its code.
        code: i64,
        /// The whole of it, for the operator.
        whole: Json,
    },
}

impl Said {
    pub(crate) fn of(response: &Response<'_>) -> Result<Said, Fault> {
        match response.body {
            Ok(result) if result.kind() == Kind::Object => Ok(Said::Result(response.keep(result))),
            Err(error) => {
                let code = response.member("code").and_then(Raw::as_i64);
                let code = code.ok_or_else(|| garbled(response.text().as_bytes()))?;
                Ok(Said::Error { code, whole: error.to_json() })
            }
            Ok(_) => Err(garbled(response.text().as_bytes())),
        }
    }

    /// An error by itself; `None` when it is none.
    pub(crate) fn error(error: Raw<'_>) -> Option<Said> {
        let code = error.as_object()?.get("code")?.as_i64()?;
        Some(Said::Error { code, whole: error.to_json() })
    }

    /// What an error says, as far as a caller may read it when the operator trusts its upstream.
    pub(crate) fn excerpt(&self) -> Option<Excerpt> {
        let Said::Error { whole, .. } = self else { return None };
        Excerpt::of_trusted(&whole.raw().as_object()?.get("message")?.as_str()?)
    }

    /// The code of an error.
    pub(crate) fn code(&self) -> Option<i64> {
        match self {
            Said::Result(_) => None,
            Said::Error { code, .. } => Some(*code),
        }
    }

    /// The result, or the fault a caller gets for an error: its code is a fact, its words are the operator's.
    pub(crate) fn result(self) -> Result<Json, Fault> {
        match self {
            Said::Result(result) => Ok(result),
            Said::Error { code: LACKS_CAPABILITY, whole } => Err(Fault::new(&reason::MCP_CAPABILITY)
                .fact("required", required(&whole))
                .capture("upstream error", whole.text())),
            Said::Error { code, whole } => Err(Fault::new(&reason::GATEWAY_UPSTREAM_ERROR)
                .fact("upstream_code", code)
                .with_effect(Effect::Unknown)
                .capture("upstream error", whole.text())),
        }
    }
}

/// The modern era's code for a client that cannot do what a request needs: the caller must know which.
const LACKS_CAPABILITY: i64 = -32021;

/// The capabilities an upstream misses, as far as they are ones we know.
fn required(error: &Json) -> Vec<&'static str> {
    let named = error.raw().as_object().and_then(|error| error.get("data")).and_then(Raw::as_object);
    let named = named.and_then(|data| data.get("requiredCapabilities")).and_then(Raw::as_object);
    let known = [Capability::Elicitation, Capability::Sampling, Capability::Roots].map(Capability::as_str);
    let mut found: Vec<&'static str> =
        known.into_iter().filter(|name| named.is_some_and(|object| object.get(name).is_some())).collect();
    if named.is_some_and(|object| object.get("extensions").is_some()) {
        found.push(TASKS_EXTENSION);
    }
    found
}

/// What `_meta` says about the conversation between us and the upstream.
const BETWEEN_US: [&str; 2] = [meta::SERVER_INFO, meta::RELATED_TASK];

/// A result, taken apart.
#[derive(Debug)]
pub(crate) struct Found {
    /// What the modern era says that it is.
    pub(crate) kind: Option<Json>,
    /// Its members without those of its era, which are written by the walk, and its `_meta` apart.
    pub(crate) members: Members,
}

impl Found {
    /// Whether it is the answer itself, and no wish for something else first.
    pub(crate) fn is_complete(&self) -> bool {
        let kind = self.kind.as_ref().and_then(|kind| kind.raw().as_str());
        matches!(kind.as_deref(), None | Some("complete"))
    }

    /// Takes a result apart. Results can be large, so it is gone over once.
    pub(crate) fn of(result: Json) -> Found {
        let (members, taken) = result.part(["resultType", "ttlMs", "cacheScope", "_meta"]);
        let [kind, ttl, scope, meta] = taken;
        let meta = meta.and_then(|meta| meta.raw().as_object()?.without(&BETWEEN_US));
        Found { kind, members: Members { members, meta, cache: cache(ttl, scope) } }
    }
}

/// How long an upstream of the modern era says that a result may be kept.
fn cache(ttl: Option<Json>, scope: Option<Json>) -> Option<Cache> {
    let ttl_ms = ttl?.raw().as_u64()?;
    let scope = match scope?.raw().as_str()?.as_ref() {
        "public" => CacheScope::Public,
        _ => CacheScope::Private,
    };
    Some(Cache { ttl_ms, scope })
}
