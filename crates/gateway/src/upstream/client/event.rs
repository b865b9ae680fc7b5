//! Events from an upstream, and their delivery to clients.

use std::convert::Infallible;
use std::sync::Arc;

use failwell_fault::Fault;
use failwell_rpc::{Id, Json, Raw, meta};
use failwell_toolbox::{Context, Event, LogLevel, Question};
use tokio::sync::mpsc;

use crate::upstream::client::ClientRelay;
use crate::upstream::client::slow_clients::SlowClients;
use crate::upstream::connection::channel::Channel;
use crate::upstream::connection::request_mux::ResponseSender;
use crate::upstream::response::UpstreamResponse;

/// The most queued progress notifications of a client's answer.
const MOST_PROGRESS: usize = 16;

#[derive(Debug)]
pub(crate) enum UpstreamEvent {
    Client(ClientNotification),
    /// A response that must follow the notifications queued before it.
    Answer(Context, ResponseSender, Result<UpstreamResponse, Fault>),
    /// A list or a resource changed.
    Change(Event),
    /// A request to the client whose call is running.
    Question {
        channel: Channel,
        id: Id,
        method: String,
        params: Json,
        relay: ClientRelay,
    },
}

/// A notification for the client of a running call.
#[derive(Debug)]
pub(crate) enum ClientNotification {
    Progress(Context, Json),
    Log(Context, Json),
}

impl ClientNotification {
    /// Delivers it, at the pace of a slow client.
    pub(crate) async fn deliver(self) {
        match self {
            ClientNotification::Progress(cx, params) => progress(&cx, &params).await,
            ClientNotification::Log(cx, params) => log(&cx, &params).await,
        }
    }
}

impl UpstreamEvent {
    /// Parses the change notifications of MCP.
    pub(crate) fn parse_change(method: &str, params: &Json) -> Option<UpstreamEvent> {
        let kind = match method {
            "notifications/tools/list_changed" => Event::ToolsChanged,
            "notifications/prompts/list_changed" => Event::PromptsChanged,
            "notifications/resources/list_changed" => Event::ResourcesChanged,
            "notifications/resources/updated" => {
                let uri = params.raw().as_object()?.get("uri")?.as_str()?.into_owned();
                Event::ResourceUpdated(uri.into())
            }
            _ => return None,
        };
        Some(UpstreamEvent::Change(with_params(kind, params)))
    }

    pub(crate) fn client(&self) -> Option<&Context> {
        match self {
            UpstreamEvent::Client(ClientNotification::Progress(cx, _) | ClientNotification::Log(cx, _))
            | UpstreamEvent::Answer(cx, ..) => Some(cx),
            UpstreamEvent::Question { relay, .. } => Some(&relay.cx),
            UpstreamEvent::Change(_) => None,
        }
    }

    /// Completes a response, or asks a question in the background.
    pub(crate) fn dispatch(self) {
        match self {
            UpstreamEvent::Answer(_, answer, response) => drop(answer.send(response)),
            UpstreamEvent::Question { channel, id, method, params, relay } => {
                // A person may take minutes, so other events are not blocked by it.
                tokio::spawn(async move { ask(&channel, &id, &method, &params, &relay).await });
            }
            UpstreamEvent::Client(_) | UpstreamEvent::Change(_) => {}
        }
    }

    /// Declines a question when the queue is full; drops any other event.
    pub(crate) fn refuse(self) {
        if let UpstreamEvent::Question { channel, id, .. } = self {
            channel.decline(&id, -32603, "too many questions");
        }
    }
}

/// Keeps extra params of a change notification, except the subscription id of the upstream.
fn with_params(kind: Event, params: &Json) -> Event {
    let Some(object) = params.raw().as_object() else { return kind };
    let meta = object.get("_meta").and_then(Raw::as_object);
    let meta = meta.and_then(|meta| meta.without(&[meta::SUBSCRIPTION_ID]));
    let params = match &meta {
        Some(meta) => Some(object.replacing("_meta", meta.raw())),
        None => object.without(&["_meta"]),
    };
    let plain = params.as_ref().and_then(|params| params.raw().as_object()?.without(&["uri"])).is_none();
    match params {
        Some(params) if !plain => Event::Relayed(Arc::new(kind), params),
        _ => kind,
    }
}

/// Forwards events until the connection ends and slow clients have read what is queued. Changes go to `changed`.
pub(crate) async fn forward_events(
    mut events: mpsc::Receiver<UpstreamEvent>,
    changed: impl Fn(Event) + Send + 'static,
) {
    let mut slow = SlowClients::default();
    loop {
        let notice = tokio::select! {
            biased;
            () = slow.finish_one() => continue,
            notice = events.recv() => notice,
        };
        match notice {
            Some(UpstreamEvent::Change(event)) => changed(event),
            Some(notice) => slow.pass(notice),
            None => break,
        }
    }
    while !slow.is_empty() {
        slow.finish_one().await;
    }
}

/// Replaces the gateway's progress token by the client's.
async fn progress(cx: &Context, params: &Json) {
    let (Some(token), Some(object)) = (cx.progress_token(), params.raw().as_object()) else { return };
    cx.relay_notice("notifications/progress", &object.replacing("progressToken", token.raw())).await;
}

async fn log(cx: &Context, params: &Json) {
    let level = params.raw().as_object().and_then(|object| object.get("level"));
    let level = level.and_then(|raw| raw.as_str()).and_then(|text| LogLevel::parse(&text).ok());
    if let (Some(level), Some(wanted)) = (level, cx.log_level())
        && level >= wanted
    {
        cx.relay_notice("notifications/message", params).await;
    }
}

/// The upstream's progress token for its own request.
fn progress_token(params: &Json) -> Option<Json> {
    let meta = params.raw().as_object()?.get("_meta")?.as_object()?;
    meta.get(meta::PROGRESS_TOKEN).map(Raw::to_json)
}

/// Forwards a client's progress to the upstream, under the upstream's token.
async fn tell_progress(channel: &Channel, token: &Json, mut progress: mpsc::Receiver<Json>) -> Infallible {
    while let Some(params) = progress.recv().await {
        if let Some(object) = params.raw().as_object() {
            let params = object.replacing("progressToken", token.raw());
            channel.notify("notifications/progress", params.text()).await;
        }
    }
    std::future::pending().await
}

async fn ask(channel: &Channel, id: &Id, method: &str, params: &Json, relay: &ClientRelay) {
    let Some(question) = Question::relayed(method, params.clone()) else {
        return channel.decline(id, -32601, "no such method");
    };
    let answered = match progress_token(params) {
        None => relay.ask(question).await,
        Some(token) => {
            let (follower, progress) = mpsc::channel(MOST_PROGRESS);
            tokio::select! {
                biased;
                never = tell_progress(channel, &token, progress) => match never {},
                answered = relay.ask(question.followed_by(follower)) => answered,
            }
        }
    };
    match answered {
        Ok(answer) => channel.reply(id, answer.text()),
        Err(_) => channel.decline(id, -32603, "the client did not answer"),
    }
}
