//! Finding out which era an upstream speaks, and introducing ourselves in it.

use std::time::Duration;

use failwell_fault::{Fault, OrFault, reason};
use failwell_rpc::{Era, Json, Raw, Revision, meta};
use failwell_server::{Capability, Client, Offered, Offers};
use serde_json::{Map, Value, json};

use crate::line::{Line, garbled};
use crate::said::Said;

/// How long an upstream of the session era may be silent when asked in the modern one.
const PROBE: Duration = Duration::from_secs(3);

/// What an upstream said about itself.
#[derive(Debug, Clone)]
pub(crate) struct Introduction {
    /// Which revision to speak.
    pub(crate) revision: Revision,
    /// What it offers.
    pub(crate) offers: Offers,
}

/// Asks in the modern era first: whoever does not understand is of the session era.
pub(crate) async fn introduce(line: &Line) -> Result<Introduction, Fault> {
    match discover(line).await? {
        Some(introduction) => Ok(introduction),
        None => initialize(line).await,
    }
}

async fn discover(line: &Line) -> Result<Option<Introduction>, Fault> {
    let params = json!({"_meta": modern_meta(&nobody(), None)}).to_string();
    let pending = line.send("server/discover", |_| params, None).await?;
    let number = pending.number;
    match tokio::time::timeout(PROBE, pending.answer).await {
        Ok(Ok(Ok(Said::Result(result)))) => {
            Ok(Some(Introduction { revision: Revision::V2026_07_28, offers: offers(&result) }))
        }
        Ok(Ok(Err(fault))) => Err(fault),
        Ok(Ok(Ok(Said::Error { .. })) | Err(_)) => Ok(None),
        Err(_) => {
            line.forget(number);
            Ok(None)
        }
    }
}

async fn initialize(line: &Line) -> Result<Introduction, Fault> {
    let params = json!({
        "protocolVersion": Revision::LATEST_SESSION.as_str(),
        "capabilities": {"sampling": {}, "elicitation": {}, "roots": {}},
        "clientInfo": client_info(),
    });
    let pending = line.send("initialize", |_| params.to_string(), None).await?;
    let result = pending.answer.await.or_fault(&reason::GATEWAY_UPSTREAM_DOWN)??.result()?;
    let version = result.raw().as_object().and_then(|object| object.get("protocolVersion"));
    let revision = version.and_then(Raw::as_str).and_then(|text| Revision::parse(&text));
    let revision = revision.filter(|revision| revision.era() == Era::Session);
    let revision = revision.ok_or_else(|| garbled(result.text().as_bytes()))?;
    line.tell("notifications/initialized", json!({}));
    Ok(Introduction { revision, offers: offers(&result) })
}

fn client_info() -> Value {
    json!({"name": "failwell", "version": env!("CARGO_PKG_VERSION")})
}

fn nobody() -> Client {
    Client::plain(failwell_policy::Caller::anonymous())
}

/// The `_meta` of a modern request: what this very client can do, and nothing it cannot.
pub(crate) fn modern_meta(client: &Client, progress: Option<u64>) -> Value {
    let mut capabilities = Map::new();
    for capability in [Capability::Elicitation, Capability::Sampling, Capability::Roots] {
        if client.can(capability) {
            capabilities.insert(capability.as_str().to_owned(), json!({}));
        }
    }
    let mut members = Map::new();
    members.insert(meta::PROTOCOL_VERSION.to_owned(), json!(Revision::V2026_07_28.as_str()));
    members.insert(meta::CLIENT_CAPABILITIES.to_owned(), Value::Object(capabilities));
    members.insert(meta::CLIENT_INFO.to_owned(), client_info());
    if let Some(token) = progress {
        members.insert(meta::PROGRESS_TOKEN.to_owned(), json!(token));
    }
    Value::Object(members)
}

fn offers(result: &Json) -> Offers {
    let declared = result.raw().as_object().and_then(|object| object.get("capabilities"));
    let declared = declared.and_then(Raw::as_object);
    let has = |name: &str| match declared.and_then(|object| object.get(name)) {
        Some(_) => Offered::Yes,
        None => Offered::No,
    };
    Offers {
        tools: has("tools"),
        prompts: has("prompts"),
        resources: has("resources"),
        completions: has("completions"),
    }
}
