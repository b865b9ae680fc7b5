//! Detects the era of an upstream and performs the handshake.

use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fact, Fault, reason};
use failwell_rpc::{Era, Json, Raw, Revision};
use failwell_toolbox::{Capability, Client, ServerFeatures, Support, TASKS_EXTENSION};
use serde_json::{Value, json};

use crate::upstream::connection::channel::Channel;
use crate::upstream::params::plain_meta;
use crate::upstream::response::{RequestError, UpstreamResponse, invalid_response};
use crate::upstream::settings::SessionSharing;

/// How long a child may take to answer `server/discover` before the session era is tried too.
pub(crate) const PROBE: Duration = Duration::from_secs(3);
/// The same for HTTP: longer than a TCP connection may take.
const REMOTE_PROBE: Duration = Duration::from_secs(8);

#[derive(Debug, Clone)]
pub(crate) struct HandshakeResult {
    pub(crate) revision: Revision,
    pub(crate) offers: ServerFeatures,
    /// Whether it supports `logging/setLevel`.
    pub(crate) logging: Support,
    pub(crate) instructions: Option<Arc<str>>,
}

const LONGEST_INSTRUCTIONS: usize = 8 * 1024;

fn instructions(result: &Json) -> Option<Arc<str>> {
    let text = result.raw().as_object()?.get("instructions").and_then(Raw::as_str)?;
    text.get(..text.floor_char_boundary(LONGEST_INSTRUCTIONS)).map(Arc::from)
}

/// Tries the modern era first and falls back to the session era. A known era is tried first until it fails.
pub(crate) async fn negotiate(
    channel: &Channel,
    known: Option<Era>,
    declared: &Value,
) -> Result<HandshakeResult, RequestError> {
    if known == Some(Era::Session) {
        match initialize(channel, declared).await {
            // The server may have been upgraded since.
            Err(error) if !channel.is_closed() && is_refusal(&error) => {}
            introduced => return introduced,
        }
    }
    let params = json!({"_meta": plain_meta()}).to_string();
    let pending = channel.send("server/discover", |_, out| out.push_str(&params), None).await?;
    let (number, mut discovered) = (pending.number, pending.answer);
    let patience = match channel {
        Channel::Stream(_) => PROBE,
        Channel::Http(_) => REMOTE_PROBE,
    };
    if let Ok(answer) = tokio::time::timeout(patience, &mut discovered).await {
        return match read_discovery(channel, answer)? {
            Some(handshake) => Ok(handshake),
            None => initialize(channel, declared).await,
        };
    }
    // No answer yet: the first of the two handshakes to succeed wins.
    let mut greeted = std::pin::pin!(send_initialize(channel, declared));
    let handshake = tokio::select! {
        biased;
        answer = &mut discovered => match read_discovery(channel, answer)? {
            Some(handshake) => return Ok(handshake),
            None => greeted.await?,
        },
        introduced = &mut greeted => match introduced {
            // Responses may arrive out of order.
            Err(error) if !channel.is_closed() => return match tokio::time::timeout(patience, discovered).await {
                Ok(answer) => read_discovery(channel, answer)?.ok_or(error),
                Err(_) => Err(error),
            },
            introduced => introduced?,
        }
    };
    // The era is decided: a late response in the other era must not count.
    channel.forget(number);
    drop(discovered);
    send_initialized(channel).await;
    Ok(handshake)
}

/// Interprets the response to `server/discover`; `None` means the session era.
fn read_discovery(
    channel: &Channel,
    answer: Result<UpstreamResponse, Fault>,
) -> Result<Option<HandshakeResult>, Fault> {
    match answer {
        // Some servers answer unknown methods with an empty result.
        Ok(UpstreamResponse::Result(result)) if !is_discovery(&result) => Ok(None),
        Ok(UpstreamResponse::Result(result)) => Ok(Some(HandshakeResult {
            instructions: instructions(&result),
            ..modern(channel, offers(&result))
        })),
        // Only the modern era has these codes. The offers are unknown, so everything is assumed.
        Ok(UpstreamResponse::Error { code: -32022, whole }) if knows_session(&whole) => Ok(None),
        Ok(UpstreamResponse::Error { code: -32022..=-32020, .. }) => Ok(Some(modern(channel, ALL_FEATURES))),
        Ok(UpstreamResponse::Error { .. }) => Ok(None),
        Err(fault) if is_no_fault_of_the_server(&fault) => Ok(None),
        Err(fault) => Err(fault),
    }
}

fn is_discovery(result: &Json) -> bool {
    let member = |name| result.raw().as_object().and_then(|object| object.get(name));
    member("supportedVersions").is_some() || member("capabilities").is_some()
}

fn modern(channel: &Channel, offers: ServerFeatures) -> HandshakeResult {
    let revision = Revision::V2026_07_28;
    channel.set_revision(revision);
    HandshakeResult { revision, offers, logging: Support::No, instructions: None }
}

/// Whether an error lists a supported revision of the session era.
fn knows_session(error: &Json) -> bool {
    let error = error.raw().as_object();
    let data = error.and_then(|error| error.get("data")).and_then(Raw::as_object);
    let supported = data.and_then(|data| data.get("supported")).and_then(Raw::as_array);
    supported
        .into_iter()
        .flatten()
        .filter_map(Raw::as_str)
        .any(|name| Revision::parse(&name).is_some_and(|revision| revision.era() == Era::Session))
}

/// An invalid response may only mean that the era is unknown to the server. Server errors and rejected credentials
/// say nothing about the era.
fn is_no_fault_of_the_server(fault: &Fault) -> bool {
    let failed = matches!(fault.get("status"), Some(Fact::Unsigned(500..)));
    *fault.reason() == reason::GATEWAY_UPSTREAM_GARBLED && !failed
}

/// Whether a healthy server rejected the handshake itself.
fn is_refusal(error: &RequestError) -> bool {
    matches!(error, RequestError::Rejected { .. }) || is_no_fault_of_the_server(error.fault())
}

/// The offers of a server that has not stated any.
pub(crate) const ALL_FEATURES: ServerFeatures = ServerFeatures {
    tools: Support::Yes,
    prompts: Support::Yes,
    resources: Support::Yes,
    completions: Support::Yes,
    tasks: Support::Yes,
};

/// The session-era handshake.
pub(crate) async fn initialize(channel: &Channel, declared: &Value) -> Result<HandshakeResult, RequestError> {
    let handshake = send_initialize(channel, declared).await?;
    send_initialized(channel).await;
    Ok(handshake)
}

async fn send_initialized(channel: &Channel) {
    channel.notify("notifications/initialized", "{}").await;
}

/// Sends `initialize`, without the final notification. The revision is set when the response arrives.
async fn send_initialize(channel: &Channel, declared: &Value) -> Result<HandshakeResult, RequestError> {
    let params = json!({
        "protocolVersion": Revision::LATEST_SESSION.as_str(),
        "capabilities": declared,
        "clientInfo": client_info(),
    });
    let pending = channel.send("initialize", |_, out| out.push_str(&params.to_string()), None).await?;
    let result = pending.answer.await?.result()?;
    let version = result.raw().as_object().and_then(|object| object.get("protocolVersion"));
    let revision = version.and_then(Raw::as_str).and_then(|text| Revision::parse(&text));
    let revision = revision.filter(|revision| revision.era() == Era::Session);
    let revision = revision.ok_or_else(|| invalid_response(result.text().as_bytes()))?;
    channel.set_revision(revision);
    let (offers, logging) = (offers(&result), offered(&result, "logging"));
    Ok(HandshakeResult { revision, offers, logging, instructions: instructions(&result) })
}

fn client_info() -> Value {
    json!({"name": "failwell", "version": env!("CARGO_PKG_VERSION")})
}

/// The capabilities to declare: those of the client if it will be the only one, otherwise all. A client that lacks
/// one declines when it is asked.
pub(crate) fn client_capabilities(client: &Client, sharing: Option<SessionSharing>) -> Value {
    let all = sharing == Some(SessionSharing::Shared) || client.revision.era() == Era::Modern;
    let known = [Capability::Sampling, Capability::Elicitation, Capability::Roots];
    let able = known.into_iter().filter(|capability| all || client.can(*capability));
    let settings_of = |capability: Capability| match capability {
        Capability::Roots if all || tells_of_roots(client) => json!({"listChanged": true}),
        _ => json!({}),
    };
    Value::Object(able.map(|capability| (capability.as_str().to_owned(), settings_of(capability))).collect())
}

/// Whether a client declares `roots.listChanged`.
fn tells_of_roots(client: &Client) -> bool {
    let declared = || {
        let roots = client.capabilities()?.raw().as_object()?.get(Capability::Roots.as_str())?;
        Some(roots.as_object()?.get("listChanged")?.text() == "true")
    };
    declared().unwrap_or(false)
}

fn offered(result: &Json, name: &str) -> Support {
    let declared = result.raw().as_object().and_then(|object| object.get("capabilities"));
    let declared = declared.and_then(Raw::as_object);
    let extension =
        |object: failwell_rpc::Object<'_>| object.get("extensions")?.as_object()?.get(name).map(|_| ());
    let found = declared.and_then(|object| object.get(name).map(|_| ()).or_else(|| extension(object)));
    if found.is_some() { Support::Yes } else { Support::No }
}

fn offers(result: &Json) -> ServerFeatures {
    // Tasks are a capability in the session era and an extension in the modern one.
    let tasks = [offered(result, "tasks"), offered(result, TASKS_EXTENSION)];
    ServerFeatures {
        tools: offered(result, "tools"),
        prompts: offered(result, "prompts"),
        resources: offered(result, "resources"),
        completions: offered(result, "completions"),
        tasks: if tasks.contains(&Support::Yes) { Support::Yes } else { Support::No },
    }
}
