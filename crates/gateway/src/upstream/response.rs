//! Responses of upstreams, and the faults for errors in them.

use failwell_fault::{Effect, Excerpt, Fault, reason};
use failwell_render::{Cache, CacheScope};
use failwell_rpc::{Json, Kind, Raw, Response, meta};
use failwell_toolbox::{Capability, Members, TASKS_EXTENSION};

/// A well-formed JSON-RPC response.
#[derive(Debug)]
pub(crate) enum UpstreamResponse {
    Result(Json),
    Error {
        code: i64,
        /// The whole error object, for the operator.
        whole: Json,
    },
}

impl UpstreamResponse {
    pub(crate) fn parse(response: &Response<'_>) -> Result<UpstreamResponse, Fault> {
        match response.body {
            Ok(result) if result.kind() == Kind::Object => {
                Ok(UpstreamResponse::Result(response.keep(result)))
            }
            Err(error) => {
                let code = response.member("code").and_then(Raw::as_i64);
                let code = code.ok_or_else(|| invalid_response(response.text().as_bytes()))?;
                Ok(UpstreamResponse::Error { code, whole: error.to_json() })
            }
            Ok(_) => Err(invalid_response(response.text().as_bytes())),
        }
    }

    /// Parses an error object.
    pub(crate) fn error(error: Raw<'_>) -> Option<UpstreamResponse> {
        let code = error.as_object()?.get("code")?.as_i64()?;
        Some(UpstreamResponse::Error { code, whole: error.to_json() })
    }

    /// The error message, for callers of a trusted upstream.
    pub(crate) fn excerpt(&self) -> Option<Excerpt> {
        let UpstreamResponse::Error { whole, .. } = self else { return None };
        Excerpt::of_trusted(&whole.raw().as_object()?.get("message")?.as_str()?)
    }

    pub(crate) fn code(&self) -> Option<i64> {
        match self {
            UpstreamResponse::Result(_) => None,
            UpstreamResponse::Error { code, .. } => Some(*code),
        }
    }

    /// The result, or an error. The upstream's text goes to the operator only.
    pub(crate) fn result(self) -> Result<Json, RequestError> {
        match self {
            UpstreamResponse::Result(result) => Ok(result),
            UpstreamResponse::Error { code: LACKS_CAPABILITY, whole } => {
                let required = required(&whole);
                let needs_tasks = required.contains(&TASKS_EXTENSION);
                let fault = Fault::new(&reason::MCP_CAPABILITY)
                    .fact("required", required)
                    .capture("upstream error", whole.text());
                Err(if needs_tasks { RequestError::NeedsTasks(fault) } else { RequestError::Failed(fault) })
            }
            UpstreamResponse::Error { code, whole } => {
                let fault = Fault::new(&reason::GATEWAY_UPSTREAM_ERROR)
                    .fact("upstream_code", code)
                    .with_effect(Effect::Unknown)
                    .capture("upstream error", whole.text());
                Err(RequestError::Rejected { code, fault })
            }
        }
    }
}

/// Why a request to an upstream has no result. A caller gets the fault.
#[derive(Debug)]
pub(crate) enum RequestError {
    /// The upstream answered with this JSON-RPC error code.
    Rejected { code: i64, fault: Fault },
    /// The upstream serves only clients that support tasks. The request had no effect.
    NeedsTasks(Fault),
    /// The upstream did not answer in time.
    TimedOut(Fault),
    /// There is no valid answer, for any other reason.
    Failed(Fault),
}

impl RequestError {
    pub(crate) fn fault(&self) -> &Fault {
        match self {
            RequestError::Rejected { fault, .. }
            | RequestError::NeedsTasks(fault)
            | RequestError::TimedOut(fault)
            | RequestError::Failed(fault) => fault,
        }
    }

    pub(crate) fn code(&self) -> Option<i64> {
        match self {
            RequestError::Rejected { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// Quotes the upstream's error message.
    pub(crate) fn with_excerpt(self, excerpt: Excerpt) -> RequestError {
        match self {
            RequestError::Rejected { code, fault } => {
                RequestError::Rejected { code, fault: fault.with_excerpt(excerpt) }
            }
            RequestError::NeedsTasks(fault) => RequestError::NeedsTasks(fault.with_excerpt(excerpt)),
            RequestError::TimedOut(fault) => RequestError::TimedOut(fault.with_excerpt(excerpt)),
            RequestError::Failed(fault) => RequestError::Failed(fault.with_excerpt(excerpt)),
        }
    }
}

impl From<Fault> for RequestError {
    fn from(fault: Fault) -> RequestError {
        RequestError::Failed(fault)
    }
}

impl From<RequestError> for Fault {
    fn from(error: RequestError) -> Fault {
        match error {
            RequestError::Rejected { fault, .. }
            | RequestError::NeedsTasks(fault)
            | RequestError::TimedOut(fault)
            | RequestError::Failed(fault) => fault,
        }
    }
}

/// The modern era's code for a missing client capability. The caller must learn which one.
const LACKS_CAPABILITY: i64 = -32021;

/// The missing capabilities that are known to this program.
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

/// Members of `_meta` that concern only the gateway and the upstream.
const BETWEEN_US: [&str; 2] = [meta::SERVER_INFO, meta::RELATED_TASK];

/// A result, split into the parts that are handled separately.
#[derive(Debug)]
pub(crate) struct ParsedResult {
    /// The `resultType` of the modern era.
    pub(crate) kind: Option<Json>,
    /// The other members. The pipeline writes the era-specific ones itself.
    pub(crate) members: Members,
    /// Whether it is the result of a tool that failed (`isError`).
    pub(crate) is_tool_failure: bool,
}

impl ParsedResult {
    /// Whether this is the final result, not a question or a task.
    pub(crate) fn is_complete(&self) -> bool {
        let kind = self.kind.as_ref().and_then(|kind| kind.raw().as_str());
        matches!(kind.as_deref(), None | Some("complete"))
    }

    /// Splits a result in one pass, because results can be large.
    pub(crate) fn parse(method: &str, result: Json) -> ParsedResult {
        let (members, taken) = result.part(["resultType", "ttlMs", "cacheScope", "_meta"]);
        let [kind, ttl, scope, meta] = taken;
        let meta = meta.and_then(|meta| meta.raw().as_object()?.without(&BETWEEN_US));
        let is_of_tool = matches!(method, "tools/call" | "tasks/result");
        let is_tool_failure = is_of_tool && members.get("isError").and_then(Raw::as_bool) == Some(true);
        ParsedResult { kind, members: Members { members, meta, cache: cache(ttl, scope) }, is_tool_failure }
    }
}

fn cache(ttl: Option<Json>, scope: Option<Json>) -> Option<Cache> {
    let ttl_ms = ttl?.raw().as_u64()?;
    let scope = match scope?.raw().as_str()?.as_ref() {
        "public" => CacheScope::Public,
        _ => CacheScope::Private,
    };
    Some(Cache { ttl_ms, scope })
}

/// The fault for a malformed response.
pub(crate) fn invalid_response(bytes: &[u8]) -> Fault {
    let kept = bytes.get(..4_096).unwrap_or(bytes);
    Fault::new(&reason::GATEWAY_UPSTREAM_GARBLED).with_effect(Effect::Unknown).capture("answer", kept)
}
