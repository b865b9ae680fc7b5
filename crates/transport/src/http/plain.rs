//! The plain faces: `/rpc` is JSON-RPC 2.0 without MCP, `/v1` is REST.

use std::sync::Arc;

use bytes::Bytes;
use failwell_fault::{Fault, reason};
use failwell_policy::Caller;
use failwell_render::Reply;
use failwell_rpc::{Defect, Face, Incoming, Json, Limits, Message, Misread, ReplyTo, read};
use failwell_server::{Carried, PlainAround, PlainCall, PlainFrom, not_an_object};
use futures_util::future::join_all;
use http::{Response, StatusCode};
use tokio_util::sync::CancellationToken;

use super::body::{Body, empty, whole};
use super::persist::Persist;
use super::request::Head;
use super::router::Door;
use super::routes::Takes;
use crate::stdio::join_bodies;

/// `POST /rpc`: one message or a batch; always status 200, or 204 when there is nothing to say.
pub(super) async fn rpc(door: &Arc<Door>, head: &Head<'_>, bytes: Bytes, caller: Caller) -> Response<Body> {
    let cancel = CancellationToken::new();
    let carried = door.house.carried(|name| head.get(name));
    let (owner, called_off, on) = (door.clone(), cancel.clone(), head.connection.clone());
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
    door: &Arc<Door>,
    message: Result<Message<'_>, Misread>,
    (caller, connection): (&Caller, &str),
    cancel: &CancellationToken,
    carried: Option<&Carried>,
) -> Option<Reply> {
    match message {
        Ok(Message::Request(request)) => {
            let to = ReplyTo::request(request.id.clone(), Face::Rpc);
            let call = PlainCall::read(&request);
            let from = PlainFrom { caller, connection, request: Some(request.text()) };
            let around = PlainAround { cancel: cancel.clone(), trace: door.house.join_plain(carried) };
            door.house.walk_plain(to, call, from, around).await
        }
        Ok(Message::Notification(notification)) => {
            Box::pin(door.house.overhear(&notification, Face::Rpc, caller, connection)).await;
            None
        }
        Ok(Message::Response(_)) => None,
        Err(misread) => door.house.misread(misread, Face::Rpc, connection, Some(caller)).await,
    }
}

/// `GET /v1/tools`
pub(super) async fn tools(door: &Arc<Door>, head: &Head<'_>, caller: Caller) -> Response<Body> {
    walk(door, head, Ok(PlainCall::ListTools), None, caller).await
}

/// `POST /v1/tools/{name}` with the arguments as the body.
pub(super) async fn tool(door: &Arc<Door>, head: &Head<'_>, bytes: Bytes, caller: Caller) -> Response<Body> {
    let call =
        read_arguments(&bytes).map(|arguments| PlainCall::Execute { name: head.part("name"), arguments });
    walk(door, head, call, Some(bytes), caller).await
}

/// The walk of a plain call. When its client hangs up, it is called off, and still written down.
async fn walk(
    door: &Arc<Door>,
    head: &Head<'_>,
    call: Result<PlainCall, Fault>,
    body: Option<Bytes>,
    caller: Caller,
) -> Response<Body> {
    let (to, cancel) = (ReplyTo::misread(None, head.face()), CancellationToken::new());
    let (owner, around, on) = (door.clone(), around(door, head, cancel.clone()), head.connection.clone());
    let work = async move {
        let request = body.as_deref().and_then(|body| std::str::from_utf8(body).ok());
        let from = PlainFrom { caller: &caller, connection: &on, request };
        owner.house.walk_plain(to, call, from, around).await
    };
    door.reply(Persist::new(work, Some(cancel)).await)
}

/// What stands around a plain call: how it is called off, and the trace it is part of.
pub(super) fn around(door: &Door, head: &Head<'_>, cancel: CancellationToken) -> PlainAround {
    let carried = door.house.carried(|name| head.get(name));
    PlainAround { cancel, trace: door.house.join_plain(carried.as_ref()) }
}

/// The body is an object of arguments; an empty one means none.
pub(super) fn read_arguments(bytes: &[u8]) -> Result<serde_json::Value, Fault> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(serde_json::json!({}));
    }
    let json = read_value(bytes)?;
    match json.raw().as_object() {
        Some(_) => json.raw().parse().map_err(|error| Fault::new(&reason::SERVER_BUG).because(error)),
        None => Err(not_an_object()),
    }
}

/// A body of the shape that the table has for it.
pub(super) fn read_shaped(head: &Head<'_>, bytes: &[u8]) -> Result<serde_json::Value, Fault> {
    let json = read_value(bytes)?;
    if let Some(Takes::Json(shape)) = head.action().map(|action| action.takes) {
        shape.check(json.text())?;
    }
    json.raw().parse().map_err(|error| Fault::new(&reason::SERVER_BUG).because(error))
}

/// One JSON value, read as strictly as messages are.
pub(super) fn read_value(bytes: &[u8]) -> Result<Json, Fault> {
    let text =
        std::str::from_utf8(bytes).map_err(|error| Defect::Utf8 { offset: error.valid_up_to() }.fault())?;
    Json::read(text, &Limits::default()).map_err(Defect::fault)
}

#[cfg(test)]
mod tests {
    use super::read_arguments;

    #[test]
    fn arguments_are_one_object() {
        assert!(read_arguments(b"").is_ok() && read_arguments(b" {\"a\":1} ").is_ok());
        let fault = |body: &[u8]| read_arguments(body).expect_err("refused");
        for (body, reason) in [
            (&b"[1]"[..], "mcp/BAD_ARGUMENTS"),
            (b"{},{}", "rpc/NOT_JSON"),
            (b"{nope", "rpc/NOT_JSON"),
            (b"{\"a\":\"\xff\"}", "rpc/NOT_UTF8"),
            (b"{\"a\":1,\"a\":2}", "rpc/DUPLICATE_KEY"),
        ] {
            assert_eq!(fault(body).reason().id, reason);
        }
        assert!(fault(b"{nope").hint().contains("byte 1"), "{}", fault(b"{nope").hint());
    }
}
