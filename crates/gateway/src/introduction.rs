//! Finding out which era an upstream speaks, and introducing ourselves in it.

use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fact, Fault, reason};
use failwell_rpc::{Era, Json, Raw, Revision};
use failwell_server::{Capability, Client, Offered, Offers, TASKS_EXTENSION};
use serde_json::{Value, json};

use crate::line::garbled;
use crate::link::Link;
use crate::params::plain_meta;
use crate::said::Said;
use crate::settings::Sharing;

/// How long a child of the session era may be silent when asked in the modern one.
pub(crate) const PROBE: Duration = Duration::from_secs(3);
/// How long a server over HTTP may: longer than it may take to connect, which says nothing about eras.
const REMOTE_PROBE: Duration = Duration::from_secs(8);

/// What an upstream said about itself.
#[derive(Debug, Clone)]
pub(crate) struct Introduction {
    /// Which revision to speak.
    pub(crate) revision: Revision,
    /// What it offers.
    pub(crate) offers: Offers,
    /// Whether it can be told how much to log.
    pub(crate) logging: Offered,
    /// How it says it is to be used.
    pub(crate) instructions: Option<Arc<str>>,
}

/// What is read of how an upstream says it is to be used; less of it is shown.
const LONGEST_INSTRUCTIONS: usize = 8 * 1024;

fn instructions(result: &Json) -> Option<Arc<str>> {
    let text = result.raw().as_object()?.get("instructions").and_then(Raw::as_str)?;
    text.get(..text.floor_char_boundary(LONGEST_INSTRUCTIONS)).map(Arc::from)
}

/// Asks in the modern era first: whoever does not understand is of the session era. An era it was found in before
/// is believed until that fails.
pub(crate) async fn introduce(
    link: &Link,
    known: Option<Era>,
    declared: &Value,
) -> Result<Introduction, Fault> {
    if known == Some(Era::Session) {
        match initialize(link, declared).await {
            // It may speak the other era by now, or may never have spoken this one.
            Err(fault) if !link.is_down() && is_refusal(&fault) => {}
            introduced => return introduced,
        }
    }
    let params = json!({"_meta": plain_meta()}).to_string();
    let pending = link.send("server/discover", |_, out| out.push_str(&params), None).await?;
    let (number, mut discovered) = (pending.number, pending.answer);
    let patience = match link {
        Link::Child(_) => PROBE,
        Link::Remote(_) => REMOTE_PROBE,
    };
    if let Ok(answer) = tokio::time::timeout(patience, &mut discovered).await {
        return match understood(link, answer)? {
            Some(introduction) => Ok(introduction),
            None => initialize(link, declared).await,
        };
    }
    // Silent, or only slow to start: from here on the first of the two that it understands counts.
    let mut greeted = std::pin::pin!(greet(link, declared));
    let introduction = tokio::select! {
        biased;
        answer = &mut discovered => match understood(link, answer)? {
            Some(introduction) => return Ok(introduction),
            None => greeted.await?,
        },
        introduced = &mut greeted => match introduced {
            // Answers need not come in the order of the questions.
            Err(fault) if !link.is_down() => return match tokio::time::timeout(patience, discovered).await {
                Ok(answer) => understood(link, answer)?.ok_or(fault),
                Err(_) => Err(fault),
            },
            introduced => introduced?,
        }
    };
    // The era is settled: what comes in the other one while the handshake ends must not count.
    link.forget(number);
    drop(discovered);
    confirm(link).await;
    Ok(introduction)
}

/// What the answer to `server/discover` says: nothing, when it is one of the session era.
fn understood(link: &Link, answer: Result<Said, Fault>) -> Result<Option<Introduction>, Fault> {
    match answer {
        // Some servers have an empty result for whatever they do not know.
        Ok(Said::Result(result)) if !is_discovery(&result) => Ok(None),
        Ok(Said::Result(result)) => {
            Ok(Some(Introduction { instructions: instructions(&result), ..modern(link, offers(&result)) }))
        }
        // Only the modern era has these codes; what is offered will be seen when it is asked for.
        Ok(Said::Error { code: -32022, whole }) if knows_session(&whole) => Ok(None),
        Ok(Said::Error { code: -32022..=-32020, .. }) => Ok(Some(modern(link, everything()))),
        Ok(Said::Error { .. }) => Ok(None),
        Err(fault) if is_no_fault_of_the_server(&fault) => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// Whether a result says which revisions a server speaks, or what it can do.
fn is_discovery(result: &Json) -> bool {
    let said = |name| result.raw().as_object().and_then(|object| object.get(name));
    said("supportedVersions").is_some() || said("capabilities").is_some()
}

fn modern(link: &Link, offers: Offers) -> Introduction {
    let revision = Revision::V2026_07_28;
    link.settle(revision);
    Introduction { revision, offers, logging: Offered::No, instructions: None }
}

/// Whether an upstream that refuses our revision names one of the session era.
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

/// Nonsense in answer to a question of another era is no more than not understanding it; a server that is not well,
/// or does not let us in, has said nothing about its era.
fn is_no_fault_of_the_server(fault: &Fault) -> bool {
    let failed = matches!(fault.get("status"), Some(Fact::Unsigned(500..)));
    *fault.reason() == reason::GATEWAY_UPSTREAM_GARBLED && !failed
}

/// Whether a server that is well and lets us in did not understand us.
fn is_refusal(fault: &Fault) -> bool {
    *fault.reason() == reason::GATEWAY_UPSTREAM_ERROR || is_no_fault_of_the_server(fault)
}

fn everything() -> Offers {
    crate::gateway::EVERYTHING
}

/// The handshake of the session era.
pub(crate) async fn initialize(link: &Link, declared: &Value) -> Result<Introduction, Fault> {
    let introduction = greet(link, declared).await?;
    confirm(link).await;
    Ok(introduction)
}

/// The end of a handshake.
async fn confirm(link: &Link) {
    link.tell("notifications/initialized", "{}").await;
}

/// The handshake but for its end. It settles the era when it is over, and not before.
async fn greet(link: &Link, declared: &Value) -> Result<Introduction, Fault> {
    let params = json!({
        "protocolVersion": Revision::LATEST_SESSION.as_str(),
        "capabilities": declared,
        "clientInfo": client_info(),
    });
    let pending = link.send("initialize", |_, out| out.push_str(&params.to_string()), None).await?;
    let result = pending.answer.await?.result()?;
    let version = result.raw().as_object().and_then(|object| object.get("protocolVersion"));
    let revision = version.and_then(Raw::as_str).and_then(|text| Revision::parse(&text));
    let revision = revision.filter(|revision| revision.era() == Era::Session);
    let revision = revision.ok_or_else(|| garbled(result.text().as_bytes()))?;
    link.settle(revision);
    let (offers, logging) = (offers(&result), offered(&result, "logging"));
    Ok(Introduction { revision, offers, logging, instructions: instructions(&result) })
}

fn client_info() -> Value {
    json!({"name": "failwell", "version": env!("CARGO_PKG_VERSION")})
}

/// What we say we can do. For a client that will be the only one: what it can do. Where others may come, everything:
/// who cannot answer a question is found out when it is asked.
pub(crate) fn declared(client: &Client, sharing: Option<Sharing>) -> Value {
    let all = sharing == Some(Sharing::Shared) || client.revision.era() == Era::Modern;
    let known = [Capability::Sampling, Capability::Elicitation, Capability::Roots];
    let able = known.into_iter().filter(|capability| all || client.can(*capability));
    let said = |capability: Capability| match capability {
        Capability::Roots if all || tells_of_roots(client) => json!({"listChanged": true}),
        _ => json!({}),
    };
    Value::Object(able.map(|capability| (capability.as_str().to_owned(), said(capability))).collect())
}

/// Whether a client says that it will tell when its roots change.
fn tells_of_roots(client: &Client) -> bool {
    let told = || {
        let roots = client.capabilities()?.raw().as_object()?.get(Capability::Roots.as_str())?;
        Some(roots.as_object()?.get("listChanged")?.text() == "true")
    };
    told().unwrap_or(false)
}

fn offered(result: &Json, name: &str) -> Offered {
    let declared = result.raw().as_object().and_then(|object| object.get("capabilities"));
    let declared = declared.and_then(Raw::as_object);
    let extension =
        |object: failwell_rpc::Object<'_>| object.get("extensions")?.as_object()?.get(name).map(|_| ());
    let found = declared.and_then(|object| object.get(name).map(|_| ()).or_else(|| extension(object)));
    if found.is_some() { Offered::Yes } else { Offered::No }
}

fn offers(result: &Json) -> Offers {
    // A capability in the session era, an extension in the modern one.
    let tasks = [offered(result, "tasks"), offered(result, TASKS_EXTENSION)];
    Offers {
        tools: offered(result, "tools"),
        prompts: offered(result, "prompts"),
        resources: offered(result, "resources"),
        completions: offered(result, "completions"),
        tasks: if tasks.contains(&Offered::Yes) { Offered::Yes } else { Offered::No },
    }
}
