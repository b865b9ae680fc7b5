//! What an upstream says of its own accord: a stream beside all requests.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use failwell_rpc::Era;
use failwell_transport::{ContentKind, Events, Heard, Verb};
use serde_json::json;
use std::sync::atomic::Ordering;
use tokio::sync::watch;
use tokio::time::error::Elapsed;

use super::{Peer, faults};
use crate::door::Unsaid;
use crate::link::Written;
use crate::params::plain_meta;
use crate::rests::never_alike;

/// Between two attempts: doubled each time …
const SHORTEST_WAIT: Duration = Duration::from_secs(1);
/// … up to this.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// How long the upstream may take to begin its stream.
const LONGEST_OPENING: Duration = Duration::from_secs(30);
/// How long nothing may come before the stream is asked for anew: what lies between may have lost it without a word.
const LONGEST_SILENCE: Duration = Duration::from_secs(600);
/// How long to wait for what else is watched or given up at the same time.
const GATHERING: Duration = Duration::from_millis(25);

/// What came of asking for the stream.
enum Opened {
    Stream(Heard),
    /// The upstream does not know our session any more.
    Lost,
    /// There is no such stream.
    Nothing,
    /// Not now; after so long, if the upstream says so.
    Later(Option<Duration>),
}

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
        let opened = tokio::select! {
            opened = tokio::time::timeout(LONGEST_OPENING, open(peer, place.as_deref())) => opened,
            () = changed(&mut watched) => continue,
        };
        match opened.map_or(Opened::Later(None), |said| judged(peer, said)) {
            Opened::Stream(heard) => {
                wait = SHORTEST_WAIT;
                let mut events = heard.events(peer.largest);
                let ended = tokio::select! {
                    ended = hear_out(peer, &mut events) => ended,
                    () = changed(&mut watched) => continue,
                };
                place = events.last_id().map(str::to_owned);
                if ended.is_err() {
                    continue;
                }
                wait = events.retry().map_or(wait, |retry| retry.clamp(wait / 4, LONGEST_WAIT));
            }
            Opened::Lost => return peer.lose(),
            Opened::Nothing => {
                changed(&mut watched).await;
                continue;
            }
            Opened::Later(asked) => wait = asked.map_or(wait, |asked| asked.clamp(wait, LONGEST_WAIT)),
        }
        let _ = tokio::time::timeout(never_alike(wait), changed(&mut watched)).await;
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

/// What is asked for changed, and with it what else changes at once: the stream is asked for anew.
async fn changed(watched: &mut watch::Receiver<BTreeSet<String>>) {
    // The sender is the peer's own, and lives as long.
    let _ = watched.changed().await;
    // Not seen to until it was asked for: something else may come first.
    watched.mark_changed();
    tokio::time::sleep(GATHERING).await;
}

fn judged(peer: &Peer, said: Result<Heard, Unsaid>) -> Opened {
    let Ok(heard) = said else { return Opened::Later(None) };
    match heard.status() {
        200 if heard.content() == ContentKind::Events => Opened::Stream(heard),
        404 if peer.era() == Some(Era::Session) => Opened::Lost,
        200..=299 | 400 | 404 | 405 | 406 | 501 => Opened::Nothing,
        // Whatever else it says, such as while it is deployed, says nothing about the stream.
        _ => Opened::Later(faults::retry_after(&heard)),
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

/// Until the stream ends, or makes no sense any more; an error when nothing came for too long.
async fn hear_out(peer: &Arc<Peer>, events: &mut Events) -> Result<(), Elapsed> {
    loop {
        match tokio::time::timeout(LONGEST_SILENCE, events.next()).await? {
            Ok(Some(data)) if peer.hear(&data, None).await.is_ok() => {}
            _ => return Ok(()),
        }
    }
}
