//! `/v1/events`: what happens, as it happens.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use failwell_fault::Fault;
use failwell_server::{House, Listening};
use futures_util::stream::unfold;
use http::Response;
use http_body::Frame;
use tokio_util::sync::CancellationToken;

use super::body::{Body, stream};

/// How often a quiet stream says that it is alive, so that proxies and readers that are gone are noticed.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// A stream of events that begins with a word of welcome.
pub(super) fn response(house: &Arc<House>, last: Option<&str>) -> Result<Response<Body>, Fault> {
    let listening = house.books().operations().listen(last)?;
    let state = (listening, house.closing().clone());
    Ok(stream(Box::pin(unfold(state, |(mut listening, closing)| async move {
        let text = next(&mut listening, &closing).await?;
        Some((Ok(Frame::data(Bytes::from(text))), (listening, closing)))
    }))))
}

/// The next event as it is written; none when the server closes.
async fn next(listening: &mut Listening, closing: &CancellationToken) -> Option<String> {
    let happening = tokio::select! {
        biased;
        () = closing.cancelled() => return None,
        happening = listening.next() => happening?,
        () = tokio::time::sleep(HEARTBEAT) => return Some(": alive\n\n".to_owned()),
    };
    let id = listening.id_of(&happening).map(|id| format!("id: {id}\n")).unwrap_or_default();
    Some(format!("{id}event: {}\ndata: {}\n\n", happening.event, happening.data))
}
