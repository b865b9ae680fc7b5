//! REST: a row of the route table parses the call, the pipeline handles it, and the row gives the status.

use std::sync::Arc;

use bytes::Bytes;
use failwell_fault::{Fault, reason};
use failwell_pipeline::{Answer, Call, IncomingMessage, IncomingRequest, RestRequest, not_an_object};
use failwell_render::Reply;
use failwell_rpc::Caller;
use failwell_rpc::{Defect, Json, Limits};
use failwell_toolbox::List;
use http::header::{HeaderValue, LOCATION};
use http::{Response, StatusCode};
use hyper::body::Incoming;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::http::body::{Body, empty, rendered};
use crate::http::request::RequestHead;
use crate::http::request::body::read_body;
use crate::http::router::{Mount, last};
use crate::http::routes::{AcceptedBody, ReadCall, RestInput};
use crate::in_place::Persist;

/// Handles a call that a row of the table parses.
pub(in crate::http) async fn call(
    mount: &Arc<Mount>,
    head: &RequestHead<'_>,
    body: Incoming,
    caller: Caller,
    read: ReadCall,
) -> Response<Body> {
    let takes_body = head.action().is_some_and(|action| !matches!(action.accepts, AcceptedBody::Nothing));
    let bytes = match takes_body {
        false => Bytes::new(),
        true => match read_body(mount, head, body, &caller).await {
            Ok(bytes) => bytes,
            Err(fault) => return last(mount.refuse(fault, head, Some(&caller)).await),
        },
    };
    let call = read(&RestInput { mount, head, body: &bytes, caller: &caller });
    match handle(mount, head, call, bytes, caller).await.reply {
        None => mount.reply(None),
        Some(reply) if reply.status != 200 => rendered(reply),
        Some(reply) => finished(reply, head),
    }
}

/// Passes a call to the pipeline. When the client disconnects, the call is cancelled and still recorded.
pub async fn handle(
    mount: &Arc<Mount>,
    head: &RequestHead<'_>,
    call: Result<Call<'static>, Fault>,
    body: Bytes,
    caller: Caller,
) -> Answer {
    let (cancel, on, dialect) = (CancellationToken::new(), head.connection.clone(), head.dialect());
    let carried = mount.pipeline.carried(|name| head.get(name));
    let (pipeline, cancelled, trace) =
        (mount.pipeline.clone(), cancel.clone(), mount.pipeline.join_plain(carried.as_ref()));
    let work = async move {
        let body = std::str::from_utf8(&body).ok().filter(|body| !body.is_empty());
        let message = IncomingMessage::Rest(RestRequest { dialect, body });
        let incoming = IncomingRequest::plain(message, &caller, &on, cancelled, trace);
        pipeline.handle_call(incoming, call).await
    };
    Persist::new(work, Some(cancel)).await
}

/// `GET /v1/tools`
pub(in crate::http) fn list_tools(_: &RestInput<'_>) -> Result<Call<'static>, Fault> {
    Ok(Call::list(List::Tools))
}

/// `POST /v1/tools/{name}` with the arguments as the body.
pub(in crate::http) fn call_tool(input: &RestInput<'_>) -> Result<Call<'static>, Fault> {
    Ok(Call::tool(input.head.part("name"), read_arguments(input.body)?))
}

/// A success response, with the status in the table.
pub fn finished(reply: Reply, head: &RequestHead<'_>) -> Response<Body> {
    let status =
        head.action().and_then(|action| action.responses.first()).map_or(200, |responses| responses.status);
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    if status == StatusCode::NO_CONTENT {
        return empty(status);
    }
    let place = (status == StatusCode::CREATED).then(|| location(head, &reply.body)).flatten();
    let mut response = rendered(reply);
    *response.status_mut() = status;
    if let Some(place) = place {
        response.headers_mut().insert(LOCATION, place);
    }
    response
}

/// The `Location` of a created item.
fn location(head: &RequestHead<'_>, body: &[u8]) -> Option<HeaderValue> {
    let made: Value = serde_json::from_slice(body).ok()?;
    HeaderValue::from_str(&format!("{}/{}", head.path, made.get("id")?.as_str()?)).ok()
}

/// Reads arguments: an object, or an empty body for none.
fn read_arguments(bytes: &[u8]) -> Result<Json, Fault> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Json::empty_object());
    }
    let json = read_value(bytes)?;
    if json.raw().as_object().is_some() { Ok(json) } else { Err(not_an_object()) }
}

/// Reads a body and checks it against the schema in the table.
pub fn read_shaped(head: &RequestHead<'_>, bytes: &[u8]) -> Result<Value, Fault> {
    let json = read_value(bytes)?;
    if let Some(AcceptedBody::Json(shape)) = head.action().map(|action| action.accepts) {
        shape.check(json.text())?;
    }
    json.raw().to_tree().map_err(|error| Fault::new(&reason::SERVER_BUG).because(error))
}

/// Reads one JSON value with the strict parser for messages.
pub fn read_value(bytes: &[u8]) -> Result<Json, Fault> {
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
