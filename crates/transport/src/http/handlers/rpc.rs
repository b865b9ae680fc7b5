//! `/rpc`: JSON-RPC 2.0 without MCP.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use failwell_fault::Fault;
use failwell_pipeline::{IncomingMessage, IncomingRequest, Requester};
use failwell_render::Reply;
use failwell_rpc::Caller;
use failwell_rpc::RemoteContext;
use failwell_rpc::{Dialect, ExpectedReply, Id, Incoming, Limits, Message, ReplyTo, UnreadableMessage, read};
use futures_util::future::join_all;
use http::{Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming as IncomingBody;
use tokio_util::sync::CancellationToken;

use crate::http::body::{Body, empty, whole};
use crate::http::request::RequestHead;
use crate::http::request::drain::discard;
use crate::http::router::{Mount, last};
use crate::in_place::{Persist, within};
use crate::stdio::join_bodies;

/// `POST /rpc`: one message or a batch. The status is 200, or 204 if there is no response.
pub(in crate::http) async fn rpc(
    mount: &Arc<Mount>,
    head: &RequestHead<'_>,
    bytes: Bytes,
    caller: Caller,
) -> Response<Body> {
    let cancel = CancellationToken::new();
    let carried = mount.pipeline.carried(|name| head.get(name));
    let (owner, called_off, on) = (mount.clone(), cancel.clone(), head.connection.clone());
    let work = async move {
        let from = (&caller, &*on);
        match read(&bytes, &Limits::default()) {
            Incoming::One(message) => {
                let carried = carried.as_ref();
                rpc_message(&owner, message, from, &called_off, carried).await.map(|reply| reply.body)
            }
            Incoming::Batch(messages) => {
                let one = |message| rpc_message(&owner, message, from, &called_off, carried.as_ref());
                let each = messages.into_iter().map(one);
                join_bodies(join_all(each).await)
            }
        }
    };
    match Persist::new(work, Some(cancel)).await {
        Some(body) => whole(200, "application/json", body),
        None => empty(StatusCode::NO_CONTENT),
    }
}

/// Refuses a request before its message is read, and echoes its ids. The body is read only if it is small and
/// arrives at once.
pub(in crate::http) async fn refuse(
    mount: &Arc<Mount>,
    head: &RequestHead<'_>,
    mut body: IncomingBody,
    fault: Fault,
    caller: Option<&Caller>,
) -> Response<Body> {
    let is_small = head.content_length().is_none_or(|length| length <= SMALL as u64);
    let is_asked = head.get(http::header::EXPECT).is_some();
    let from = mount.requester(head, caller);
    let mut share = match from {
        Requester::Caller(caller) => mount.settings.bodies.share(Some(caller)),
        Requester::Address(_) => mount.settings.refused_bodies.share(None),
    };
    let small = match is_small && !is_asked && share.take(SMALL).is_ok() {
        true => within(AT_ONCE, pin!(Limited::new(&mut body, SMALL).collect())).await,
        false => None,
    };
    let Some(Ok(small)) = small else {
        discard(body, head, &mount.settings);
        return last(mount.refuse(fault, head, caller).await);
    };
    match ids(&small.to_bytes()) {
        RefusedIds::One(id) => {
            let to = ReplyTo::unreadable(id, Dialect::Rpc);
            mount.reply(mount.pipeline.refuse(fault, to, head.connection, from).await)
        }
        RefusedIds::NoRequests => {
            let mut to = ReplyTo::unreadable(None, Dialect::Rpc);
            to.wants = ExpectedReply::Silence;
            mount.pipeline.refuse(fault, to, head.connection, from).await;
            empty(StatusCode::NO_CONTENT)
        }
        RefusedIds::Batch(ids) => {
            let replies = ids.into_iter().map(|id| {
                let to = ReplyTo::unreadable(id, Dialect::Rpc);
                mount.pipeline.refuse(again(&fault), to, head.connection, from)
            });
            let body = join_bodies(join_all(replies).await).unwrap_or_default();
            whole(200, "application/json", body)
        }
    }
}

/// Maximum size of a body that is read before its caller is known.
const SMALL: usize = 64 * 1024;
/// Maximum time to receive it.
const AT_ONCE: Duration = Duration::from_secs(2);
/// Maximum number of requests in a batch that are refused one by one. A larger batch gets one response.
const MOST: usize = 64;

/// The ids that a refusal echoes.
enum RefusedIds {
    One(Option<Id>),
    Batch(Vec<Option<Id>>),
    /// Notifications and responses get no response.
    NoRequests,
}

fn ids(body: &[u8]) -> RefusedIds {
    let id = |message: Result<Message<'_>, UnreadableMessage>| match message {
        Ok(Message::Request(request)) => Some(Some(request.id)),
        Ok(Message::Notification(_) | Message::Response(_)) => None,
        Err(unreadable) => Some(unreadable.id),
    };
    match read(body, &Limits::default()) {
        Incoming::One(message) => id(message).map_or(RefusedIds::NoRequests, RefusedIds::One),
        Incoming::Batch(messages) if messages.len() > MOST => RefusedIds::One(None),
        Incoming::Batch(messages) => {
            let ids: Vec<Option<Id>> = messages.into_iter().filter_map(id).collect();
            if ids.is_empty() { RefusedIds::NoRequests } else { RefusedIds::Batch(ids) }
        }
    }
}

/// The public half of a fault once more, for another response.
fn again(fault: &Fault) -> Fault {
    let facts = fault.facts().iter();
    facts.fold(Fault::new(fault.reason()), |new, (name, fact)| new.fact(name, fact.clone()))
}

async fn rpc_message(
    mount: &Arc<Mount>,
    message: Result<Message<'_>, UnreadableMessage>,
    (caller, connection): (&Caller, &str),
    cancel: &CancellationToken,
    carried: Option<&RemoteContext>,
) -> Option<Reply> {
    match message {
        Ok(Message::Request(request)) => {
            let trace = mount.pipeline.join_plain(carried);
            let message = IncomingMessage::Rpc(request);
            // At a shutdown each request of a batch is ended by itself.
            let cancel = cancel.child_token();
            let incoming = IncomingRequest::plain(message, caller, connection, cancel, trace);
            mount.pipeline.handle(incoming).await
        }
        Ok(Message::Notification(notification)) => {
            Box::pin(mount.pipeline.ignore_notification(&notification, Dialect::Rpc, caller, connection))
                .await;
            None
        }
        Ok(Message::Response(_)) => None,
        Err(unreadable) => {
            mount.pipeline.refuse_unreadable(unreadable, Dialect::Rpc, connection, Some(caller)).await
        }
    }
}
