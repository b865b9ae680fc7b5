//! `/rpc`: JSON-RPC 2.0 without MCP.

use std::sync::Arc;

use bytes::Bytes;
use failwell_pipeline::{IncomingMessage, IncomingRequest};
use failwell_render::Reply;
use failwell_rpc::Caller;
use failwell_rpc::RemoteContext;
use failwell_rpc::{Dialect, Incoming, Limits, Message, Misread, read};
use futures_util::future::join_all;
use http::{Response, StatusCode};
use tokio_util::sync::CancellationToken;

use super::body::{Body, empty, whole};
use super::persist::Persist;
use super::request::RequestHead;
use super::router::Mount;
use crate::stdio::join_bodies;

/// `POST /rpc`: one message or a batch. The status is 200, or 204 if there is no response.
pub(super) async fn rpc(
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

async fn rpc_message(
    mount: &Arc<Mount>,
    message: Result<Message<'_>, Misread>,
    (caller, connection): (&Caller, &str),
    cancel: &CancellationToken,
    carried: Option<&RemoteContext>,
) -> Option<Reply> {
    match message {
        Ok(Message::Request(request)) => {
            let trace = mount.pipeline.join_plain(carried);
            let message = IncomingMessage::Rpc(request);
            let incoming = IncomingRequest::plain(message, caller, connection, cancel.clone(), trace);
            mount.pipeline.handle(incoming).await
        }
        Ok(Message::Notification(notification)) => {
            Box::pin(mount.pipeline.ignore_notification(&notification, Dialect::Rpc, caller, connection))
                .await;
            None
        }
        Ok(Message::Response(_)) => None,
        Err(misread) => mount.pipeline.misread(misread, Dialect::Rpc, connection, Some(caller)).await,
    }
}
