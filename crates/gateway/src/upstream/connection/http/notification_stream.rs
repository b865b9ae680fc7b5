//! The stream of notifications that belong to no request.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use failwell_backoff::with_jitter;
use failwell_connect::{ContentKind, EventStream, HttpResponse, Verb};
use failwell_rpc::Era;
use serde_json::json;
use std::sync::atomic::Ordering;
use tokio::sync::watch;
use tokio::time::error::Elapsed;

use super::{StreamableHttp, faults};
use crate::upstream::connection::channel::EncodedRequest;
use crate::upstream::connection::endpoint::UpstreamSendError;
use crate::upstream::params::plain_meta;

/// The first delay between attempts; it doubles …
const SHORTEST_WAIT: Duration = Duration::from_secs(1);
/// … up to this one.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// Time limit for the response headers.
const LONGEST_OPENING: Duration = Duration::from_secs(30);
/// A silent stream is reopened after this time: a proxy may have dropped it.
const LONGEST_SILENCE: Duration = Duration::from_secs(600);
/// Collects subscription changes that happen together.
const GATHERING: Duration = Duration::from_millis(25);

/// The outcome of opening the stream.
enum StreamAttempt {
    Stream(HttpResponse),
    /// The session has expired.
    Lost,
    /// The upstream offers no such stream.
    Nothing,
    /// Try again, after this delay if the upstream states one.
    Later(Option<Duration>),
}

/// Listens until the connection is stopped. If the upstream offers no stream, waits for a change of the
/// subscriptions.
pub(super) async fn listen(peer: Arc<StreamableHttp>) {
    let stop = peer.stop.clone();
    tokio::select! {
        () = stop.cancelled() => {}
        () = keep_listening(&peer) => {}
    }
}

async fn keep_listening(peer: &Arc<StreamableHttp>) {
    let mut watched = peer.watched.subscribe();
    let mut wait = SHORTEST_WAIT;
    let mut place: Option<String> = None;
    loop {
        watched.mark_unchanged();
        let opened = tokio::select! {
            opened = tokio::time::timeout(LONGEST_OPENING, open(peer, place.as_deref())) => opened,
            () = changed(&mut watched) => continue,
        };
        match opened.map_or(StreamAttempt::Later(None), |opened| classify(peer, opened)) {
            StreamAttempt::Stream(response) => {
                wait = SHORTEST_WAIT;
                let mut events = response.events(peer.largest);
                let ended = tokio::select! {
                    ended = read_until_end(peer, &mut events) => ended,
                    () = changed(&mut watched) => continue,
                };
                place = events.last_id().map(str::to_owned);
                if ended.is_err() {
                    continue;
                }
                wait = events.retry().map_or(wait, |retry| retry.clamp(wait / 4, LONGEST_WAIT));
            }
            StreamAttempt::Lost => return peer.mark_lost(),
            StreamAttempt::Nothing => {
                changed(&mut watched).await;
                continue;
            }
            StreamAttempt::Later(asked) => wait = asked.map_or(wait, |asked| asked.clamp(wait, LONGEST_WAIT)),
        }
        let _ = tokio::time::timeout(with_jitter(wait), changed(&mut watched)).await;
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

/// Waits until the subscriptions change, and a little longer for changes that follow at once.
async fn changed(watched: &mut watch::Receiver<BTreeSet<String>>) {
    // The sender lives in the peer, so it outlives this receiver.
    let _ = watched.changed().await;
    // Marked again, because this future may be dropped before the stream is reopened.
    watched.mark_changed();
    tokio::time::sleep(GATHERING).await;
}

fn classify(peer: &StreamableHttp, opened: Result<HttpResponse, UpstreamSendError>) -> StreamAttempt {
    let Ok(response) = opened else { return StreamAttempt::Later(None) };
    match response.status() {
        200 if response.content() == ContentKind::EventStream => StreamAttempt::Stream(response),
        404 if peer.era() == Some(Era::Session) => StreamAttempt::Lost,
        200..=299 | 400 | 404 | 405 | 406 | 501 => StreamAttempt::Nothing,
        // Other statuses, such as 503 during a deployment, are temporary.
        _ => StreamAttempt::Later(faults::retry_after(&response)),
    }
}

async fn open(peer: &StreamableHttp, place: Option<&str>) -> Result<HttpResponse, UpstreamSendError> {
    if peer.era() == Some(Era::Session) {
        return peer.endpoint.send(Verb::Get, peer.stream_headers(place), Bytes::new()).await;
    }
    let watched = peer.watched.borrow().clone();
    let wanted = json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
        "resourceSubscriptions": watched});
    let meta = plain_meta();
    let number = peer.next.fetch_add(1, Ordering::Relaxed);
    let params = json!({"notifications": wanted, "_meta": meta}).to_string();
    let encoded = EncodedRequest::new(number, "subscriptions/listen", |out| out.push_str(&params));
    let headers = peer.headers_for("subscriptions/listen", encoded.params());
    peer.endpoint.send(Verb::Post, headers, Bytes::from(encoded.text)).await
}

/// Reads until the stream ends or is invalid; fails if it was silent for too long.
async fn read_until_end(peer: &Arc<StreamableHttp>, events: &mut EventStream) -> Result<(), Elapsed> {
    loop {
        match tokio::time::timeout(LONGEST_SILENCE, events.next()).await? {
            Ok(Some(data)) if peer.receive(&data, None).await.is_ok() => {}
            _ => return Ok(()),
        }
    }
}
