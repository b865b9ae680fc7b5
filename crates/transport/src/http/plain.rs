//! The plain faces: `/rpc` is JSON-RPC 2.0 without MCP, `/v1` is REST.

use std::sync::Arc;

use bytes::Bytes;
use failwell_fault::{Fault, Pointer, Rule, Violation, reason};
use failwell_policy::Caller;
use failwell_render::Reply;
use failwell_rpc::{Face, Incoming, Limits, Message, Misread, ReplyTo, read};
use failwell_server::{Carried, PlainAround, PlainCall, PlainFrom};
use futures_util::future::join_all;
use http::{Response, StatusCode};
use tokio_util::sync::CancellationToken;

use super::body::{Body, empty, whole};
use super::persist::Persist;
use super::request::Head;
use super::router::Door;
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
            door.house.overhear(&notification, Face::Rpc, caller, connection);
            None
        }
        Ok(Message::Response(_)) => None,
        Err(misread) => door.house.misread(misread, Face::Rpc, connection, Some(caller)).await,
    }
}

/// `GET /v1/tools`
pub(super) async fn tools(door: &Arc<Door>, head: &Head<'_>, caller: Caller) -> Response<Body> {
    let to = ReplyTo::misread(None, head.face());
    let around = around(door, head, CancellationToken::new());
    let from = PlainFrom { caller: &caller, connection: head.connection, request: None };
    door.reply(door.house.walk_plain(to, Ok(PlainCall::ListTools), from, around).await)
}

/// `POST /v1/tools/{name}` with the arguments as the body.
pub(super) async fn tool(door: &Arc<Door>, head: &Head<'_>, bytes: Bytes, caller: Caller) -> Response<Body> {
    let to = ReplyTo::misread(None, head.face());
    let call = read_arguments(&bytes).map(|arguments| {
        let name = head.path.strip_prefix("/v1/tools/").unwrap_or_default();
        PlainCall::Execute { name: percent_decode(name), arguments }
    });
    let cancel = CancellationToken::new();
    let (owner, around, on) = (door.clone(), around(door, head, cancel.clone()), head.connection.clone());
    let work = async move {
        let from = PlainFrom { caller: &caller, connection: &on, request: std::str::from_utf8(&bytes).ok() };
        owner.house.walk_plain(to, call, from, around).await
    };
    door.reply(Persist::new(work, Some(cancel)).await)
}

fn around(door: &Door, head: &Head<'_>, cancel: CancellationToken) -> PlainAround {
    let carried = door.house.carried(|name| head.get(name));
    PlainAround { cancel, trace: door.house.join_plain(carried.as_ref()) }
}

/// The body is an object of arguments; an empty one means none.
pub(super) fn read_arguments(bytes: &[u8]) -> Result<serde_json::Value, Fault> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(serde_json::json!({}));
    }
    // The strict reader reads messages, so the arguments are read as the params of one.
    let message = [br#"{"jsonrpc":"2.0","method":"m","params":["#, bytes, b"]}"].concat();
    match read(&message, &Limits::default()) {
        Incoming::One(Ok(Message::Notification(notification))) => {
            let whole = notification.params.and_then(|raw| raw.as_array()).and_then(|mut items| {
                let first = items.next();
                first.filter(|_| items.next().is_none())
            });
            let object = whole.filter(|raw| raw.as_object().is_some());
            match object {
                Some(raw) => raw.parse().map_err(|error| Fault::new(&reason::SERVER_BUG).because(error)),
                None => Err(Fault::new(&reason::MCP_BAD_ARGUMENTS)
                    .violation(Violation::new(Pointer::root(), Rule::Type).limit("object"))),
            }
        }
        Incoming::One(Err(misread)) => Err(misread.fault),
        _ => Err(Fault::new(&reason::RPC_NOT_JSON).fact("offset", 0u64)),
    }
}

fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let escaped = (*first == b'%')
            .then(|| {
                std::str::from_utf8(tail.get(..2)?).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok())
            })
            .flatten();
        match escaped {
            Some(byte) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{percent_decode, read_arguments};

    #[test]
    fn names_are_decoded_once() {
        for (path, name) in [("echo", "echo"), ("a%20b", "a b"), ("%2525", "%25"), ("%zz%4", "%zz%4")] {
            assert_eq!(percent_decode(path), name);
        }
    }

    #[test]
    fn arguments_are_one_object() {
        assert!(read_arguments(b"").is_ok() && read_arguments(b" {\"a\":1} ").is_ok());
        let reason = |body: &[u8]| read_arguments(body).err().map(|fault| fault.reason().id);
        assert_eq!(reason(b"[1]"), Some("mcp/BAD_ARGUMENTS"));
        assert_eq!(reason(b"{},{}"), Some("mcp/BAD_ARGUMENTS"));
        assert_eq!(reason(b"{nope"), Some("rpc/NOT_JSON"));
        assert_eq!(reason(b"{\"a\":1,\"a\":2}"), Some("rpc/DUPLICATE_KEY"));
    }
}
