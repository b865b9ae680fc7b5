//! `/v1/events`: a live stream of operations.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use failwell_controls::{AdminCall, OperationListener};
use failwell_fault::Fault;
use failwell_rpc::Caller;
use futures_util::stream::unfold;
use http::{Method, Response};
use http_body::Frame;
use hyper::body::Incoming;
use tokio_util::sync::CancellationToken;

use failwell_transport::paths::{Body, Mount, RequestHead, handle, rendered, stream, whole};

use crate::services;

/// Interval of comments on an idle stream, so that proxies keep it open and lost readers are detected.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Responds after the pipeline has authorized the caller. The stream itself is not part of the exchange.
pub(crate) fn events<'a>(
    mount: &'a Arc<Mount>,
    head: &'a RequestHead<'a>,
    _: Incoming,
    caller: Caller,
) -> Pin<Box<dyn Future<Output = Response<Body>> + Send + 'a>> {
    Box::pin(listen(mount, head, caller))
}

async fn listen(mount: &Arc<Mount>, head: &RequestHead<'_>, caller: Caller) -> Response<Body> {
    let call = services(mount).map(|services| services.admin(AdminCall::Listen));
    match handle(mount, head, call, Bytes::new(), caller.clone()).await.reply {
        Some(reply) if reply.status != 200 => rendered(reply),
        Some(_) if *head.method == Method::HEAD => whole(200, "text/event-stream", ""),
        Some(_) => match response(mount, head.get("last-event-id")) {
            Ok(response) => response,
            Err(fault) => mount.refuse(fault, head, Some(&caller)).await,
        },
        None => mount.reply(None),
    }
}

/// A stream of events that begins with a welcome event.
fn response(mount: &Mount, last: Option<&str>) -> Result<Response<Body>, Fault> {
    let listening = services(mount)?.telemetry().operations().listen(last)?;
    let state = (listening, mount.pipeline.closing().clone());
    Ok(stream(Box::pin(unfold(state, |(mut listening, closing)| async move {
        let text = next(&mut listening, &closing).await?;
        Some((Ok(Frame::data(Bytes::from(text))), (listening, closing)))
    }))))
}

/// The next event in wire format; `None` when the server shuts down.
async fn next(listening: &mut OperationListener, closing: &CancellationToken) -> Option<String> {
    let happening = tokio::select! {
        biased;
        () = closing.cancelled() => return None,
        happening = listening.next() => happening?,
        () = tokio::time::sleep(HEARTBEAT) => return Some(": alive\n\n".to_owned()),
    };
    let id = listening.id_of(&happening).map(|id| format!("id: {id}\n")).unwrap_or_default();
    Some(format!("{id}event: {}\ndata: {}\n\n", happening.event, happening.data))
}
