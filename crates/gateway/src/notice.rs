//! What an upstream says of its own accord, and how it reaches those it concerns.

use std::convert::Infallible;
use std::sync::Arc;

use failwell_fault::Fault;
use failwell_rpc::{Id, Json, Raw, meta};
use failwell_server::{Context, Event, LogLevel, Question};
use tokio::sync::mpsc;

use crate::line::Answering;
use crate::link::Link;
use crate::relay::Relay;
use crate::said::Said;
use crate::slow::SlowClients;

/// The most that a client says of how far it is and that waits to be passed on.
const MOST_PROGRESS: usize = 16;

/// Something to pass on.
#[derive(Debug)]
pub(crate) enum Notice {
    /// For the client of a running call.
    Client(ForClient),
    /// The answer to a call of this client whose notices come first.
    Answer(Context, Answering, Result<Said, Fault>),
    /// Something changed.
    Change(Event),
    /// A question for the client whose call is running.
    Question {
        /// Where the answer goes.
        link: Link,
        /// Under which id.
        id: Id,
        /// What is asked.
        method: String,
        /// With what.
        params: Json,
        /// Whom.
        relay: Relay,
    },
}

/// What a client hears while its call is running.
#[derive(Debug)]
pub(crate) enum ForClient {
    /// How far the call is.
    Progress(Context, Json),
    /// A log message.
    Log(Context, Json),
}

impl ForClient {
    /// Sends it on, waiting for a slow client.
    pub(crate) async fn deliver(self) {
        match self {
            ForClient::Progress(cx, params) => progress(&cx, &params).await,
            ForClient::Log(cx, params) => log(&cx, &params).await,
        }
    }
}

impl Notice {
    /// The notices about lists and resources.
    pub(crate) fn of_change(method: &str, params: &Json) -> Option<Notice> {
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
        Some(Notice::Change(with_more(kind, params)))
    }

    /// The client it is for.
    pub(crate) fn client(&self) -> Option<&Context> {
        match self {
            Notice::Client(ForClient::Progress(cx, _) | ForClient::Log(cx, _)) | Notice::Answer(cx, ..) => {
                Some(cx)
            }
            Notice::Question { relay, .. } => Some(&relay.cx),
            Notice::Change(_) => None,
        }
    }

    /// Hands an answer or a question to whoever sees to it.
    pub(crate) fn hand_over(self) {
        match self {
            Notice::Answer(_, answer, said) => drop(answer.send(said)),
            Notice::Question { link, id, method, params, relay } => {
                // A person may take minutes, so it is asked beside the other notices.
                tokio::spawn(async move { ask(&link, &id, &method, &params, &relay).await });
            }
            Notice::Client(_) | Notice::Change(_) => {}
        }
    }

    /// There is no room for it.
    pub(crate) fn refuse(self) {
        if let Notice::Question { link, id, .. } = self {
            link.decline(&id, -32603, "too many questions");
        }
    }
}

/// A change said plainly is one of ours; what there is more to it goes along, but for the subscription it came by.
fn with_more(kind: Event, params: &Json) -> Event {
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

/// Passes notices on until the connection is gone, and then what slow clients have yet to take. `changed` hears of
/// changes.
pub(crate) async fn pass_on(mut notices: mpsc::Receiver<Notice>, changed: impl Fn(Event) + Send + 'static) {
    let mut slow = SlowClients::default();
    loop {
        let notice = tokio::select! {
            biased;
            () = slow.one_is_done() => continue,
            notice = notices.recv() => notice,
        };
        match notice {
            Some(Notice::Change(event)) => changed(event),
            Some(notice) => slow.pass(notice),
            None => break,
        }
    }
    while !slow.is_empty() {
        slow.one_is_done().await;
    }
}

/// Under the token the client chose, not under ours.
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

/// Under which token an upstream wants to hear how far the answer to its question is.
fn progress_token(params: &Json) -> Option<Json> {
    let meta = params.raw().as_object()?.get("_meta")?.as_object()?;
    meta.get(meta::PROGRESS_TOKEN).map(Raw::to_json)
}

/// Tells the upstream how far the client is, under the token the upstream chose, until somebody has heard enough.
async fn tell_progress(link: &Link, token: &Json, mut heard: mpsc::Receiver<Json>) -> Infallible {
    while let Some(params) = heard.recv().await {
        if let Some(object) = params.raw().as_object() {
            let params = object.replacing("progressToken", token.raw());
            link.tell("notifications/progress", params.text()).await;
        }
    }
    std::future::pending().await
}

async fn ask(link: &Link, id: &Id, method: &str, params: &Json, relay: &Relay) {
    let Some(question) = Question::relayed(method, params.clone()) else {
        return link.decline(id, -32601, "no such method");
    };
    let answered = match progress_token(params) {
        None => relay.ask(question).await,
        Some(token) => {
            let (follower, heard) = mpsc::channel(MOST_PROGRESS);
            tokio::select! {
                biased;
                never = tell_progress(link, &token, heard) => match never {},
                answered = relay.ask(question.followed_by(follower)) => answered,
            }
        }
    };
    match answered {
        Ok(answer) => link.reply(id, answer.text()),
        Err(_) => link.decline(id, -32603, "the client did not answer"),
    }
}
