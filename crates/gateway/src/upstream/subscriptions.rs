//! The subscriptions of clients at an upstream: watched resources and the log level. They outlive a connection, and
//! are restored on the next one.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use failwell_fault::{Fault, reason};
use failwell_rpc::Era;
use failwell_toolbox::{Context, LogLevel, Watcher};
use parking_lot::MutexGuard;

use crate::upstream::Upstream;
use crate::upstream::connection_pool::ConnectionSlot;
use crate::upstream::settings::SessionSharing;

const MOST_WATCHED: usize = 1_000;

/// State that clients set and that outlives a connection.
#[derive(Default)]
pub(super) struct Subscriptions {
    /// Watched resources and their watchers.
    watched: BTreeMap<String, HashSet<Watcher>>,
    /// Sessions whose subscriptions are removed when they end.
    followed: HashSet<Watcher>,
    level: Option<LogLevel>,
}

/// Whether the resource was already watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WatchOutcome {
    New,
    Existing,
}

impl Upstream {
    /// Records a subscription, so that it is restored on the next connection.
    pub(crate) async fn add_watch(self: &Arc<Self>, uri: &str, cx: &Context) -> Result<WatchOutcome, Fault> {
        let slot = self.acquire(cx).await?.slot;
        let by = cx.watcher();
        let watched = slot.watch(uri, by)?;
        // Subscriptions of a session end with it.
        let ended = cx.end_of_session().filter(|_| matches!(by, Watcher::Session(_)));
        if let Some(ended) = ended.filter(|_| slot.begin_following(by)).cloned() {
            let left = slot.released().clone();
            tokio::spawn(async move {
                tokio::select! {
                    () = left.cancelled() => {}
                    () = ended.cancelled() => slot.unwatch_all(by),
                }
            });
        }
        Ok(watched)
    }

    pub(crate) fn unwatch(&self, uri: &str, cx: &Context) {
        if let Some(slot) = self.pool.existing_slot(cx) {
            slot.unwatch(uri, cx.watcher());
        }
    }

    /// The subscriber may have left while the upstream was asked: then unsubscribes.
    pub(crate) fn drop_unused_watch(&self, uri: &str, cx: &Context) {
        if let Some(slot) = self.pool.existing_slot(cx) {
            slot.drop_unused_watch(uri);
        }
    }

    /// Notifies a session-era upstream that asked this client for its roots.
    pub(crate) fn roots_changed(&self, cx: &Context) {
        let connection = self.existing_connection(cx).filter(|connection| connection.era() == Era::Session);
        let Some(connection) = connection.filter(|known| known.channel.users().roots_changed_by(cx)) else {
            return;
        };
        tokio::spawn(
            async move { connection.channel.notify("notifications/roots/list_changed", "{}").await },
        );
    }
}

impl ConnectionSlot {
    fn subscriptions(&self) -> MutexGuard<'_, Subscriptions> {
        self.subscriptions.lock()
    }

    pub(crate) fn watch(&self, uri: &str, by: Watcher) -> Result<WatchOutcome, Fault> {
        let mut subscriptions = self.subscriptions();
        if subscriptions.watched.len() >= MOST_WATCHED && !subscriptions.watched.contains_key(uri) {
            return Err(Fault::new(&reason::SERVER_BUSY).fact("limit", MOST_WATCHED));
        }
        let watching = subscriptions.watched.entry(uri.to_owned()).or_default();
        let already = !watching.is_empty();
        watching.insert(by);
        Ok(if already { WatchOutcome::Existing } else { WatchOutcome::New })
    }

    /// Removes a watcher, and unsubscribes if it was the last one.
    pub(crate) fn unwatch(&self, uri: &str, by: Watcher) {
        let is_dropped = {
            let mut subscriptions = self.subscriptions();
            let watching = subscriptions.watched.get_mut(uri);
            let is_last = watching.is_some_and(|watching| watching.remove(&by) && watching.is_empty());
            is_last && subscriptions.watched.remove(uri).is_some()
        };
        if is_dropped {
            self.tell_unwatched(vec![uri.to_owned()]);
        }
    }

    /// Removes a watcher from all resources.
    pub(crate) fn unwatch_all(&self, by: Watcher) {
        let dropped = {
            let mut subscriptions = self.subscriptions();
            subscriptions.followed.remove(&by);
            let last = |watching: &mut HashSet<Watcher>| watching.remove(&by) && watching.is_empty();
            subscriptions.watched.extract_if(.., |_, watching| last(watching)).map(|(uri, _)| uri).collect()
        };
        self.tell_unwatched(dropped);
    }

    /// Unsubscribes if the last watcher left while the upstream was being asked.
    pub(crate) fn drop_unused_watch(&self, uri: &str) {
        if !self.subscriptions().watched.contains_key(uri) {
            self.tell_unwatched(vec![uri.to_owned()]);
        }
    }

    fn tell_unwatched(&self, uris: Vec<String>) {
        if let Some(connection) = self.alive() {
            connection.unwatch(uris);
        }
    }

    /// Returns whether the end of this session was not yet followed.
    pub(crate) fn begin_following(&self, session: Watcher) -> bool {
        self.subscriptions().followed.insert(session)
    }

    pub(crate) fn watched(&self) -> Vec<String> {
        self.subscriptions().watched.keys().cloned().collect()
    }

    /// The log level to request, if it changes. Callers that share the connection get the most verbose level;
    /// messages below a caller's own level are filtered later.
    pub(crate) fn level_for(&self, wanted: LogLevel, sharing: SessionSharing) -> Option<LogLevel> {
        let mut subscriptions = self.subscriptions();
        let level = match subscriptions.level {
            Some(level) if sharing == SessionSharing::Shared => level.min(wanted),
            _ => wanted,
        };
        (subscriptions.level.replace(level) != Some(level)).then_some(level)
    }

    pub(crate) fn level(&self) -> Option<LogLevel> {
        self.subscriptions().level
    }
}
