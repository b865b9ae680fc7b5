//! What an upstream says of its own accord: a stream beside all requests.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use failwell_rpc::Era;
use failwell_transport::{ContentKind, Events, Heard, Verb};
use serde_json::json;
use std::sync::atomic::Ordering;

use super::Peer;
use crate::door::Unsaid;
use crate::link::Written;
use crate::params::plain_meta;

/// Between two attempts: doubled each time …
const SHORTEST_WAIT: Duration = Duration::from_secs(1);
/// … up to this.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Listens until the connection is stopped. An upstream that has no such stream is not asked again until there is
/// something new to ask for.
pub(super) async fn listen(peer: Arc<Peer>) {
    let stop = peer.stop.clone();
    tokio::select! {
        () = stop.cancelled() => {}
        () = keep_listening(&peer) => {}
    }
}

async fn keep_listening(peer: &Arc<Peer>) {
    let mut watched = peer.watched.subscribe();
    let mut wait = SHORTEST_WAIT;
    let mut place: Option<String> = None;
    loop {
        watched.mark_unchanged();
        match open(peer, place.as_deref()).await {
            Ok(heard) if heard.status() == 200 && heard.content() == ContentKind::Events => {
                wait = SHORTEST_WAIT;
                let mut events = heard.events(peer.largest);
                tokio::select! {
                    () = hear_out(peer, &mut events) => {}
                    // What is asked for changed: ask again at once.
                    _ = watched.changed() => continue,
                }
                place = events.last_id().map(str::to_owned);
                wait = events.retry().map_or(wait, |retry| retry.clamp(wait / 4, LONGEST_WAIT));
            }
            Ok(heard) if heard.status() == 404 && peer.era() == Some(Era::Session) => return peer.lose(),
            Ok(_) => {
                if watched.changed().await.is_err() {
                    return;
                }
                continue;
            }
            Err(_) => {}
        }
        let _ = tokio::time::timeout(wait, watched.changed()).await;
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

async fn open(peer: &Peer, place: Option<&str>) -> Result<Heard, Unsaid> {
    if peer.era() == Some(Era::Session) {
        return peer.door.say(Verb::Get, peer.stream_headers(place), Bytes::new()).await;
    }
    let watched = peer.watched.borrow().clone();
    let wanted = json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
        "resourceSubscriptions": watched});
    let meta = plain_meta();
    let number = peer.next.fetch_add(1, Ordering::Relaxed);
    let params = json!({"notifications": wanted, "_meta": meta}).to_string();
    let written = Written::new(number, "subscriptions/listen", |out| out.push_str(&params));
    let headers = peer.headers_for("subscriptions/listen", written.params());
    peer.door.say(Verb::Post, headers, Bytes::from(written.text)).await
}

/// Until the stream ends, or makes no sense any more.
async fn hear_out(peer: &Arc<Peer>, events: &mut Events) {
    while let Ok(Some(data)) = events.next().await {
        if peer.hear(&data, None).await.is_err() {
            return;
        }
    }
}
