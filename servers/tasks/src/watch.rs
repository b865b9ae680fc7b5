//! Resources that somebody watches: looked at every now and then by asking for changes, and told of when they changed.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use failwell_server::{Context, Event};

use crate::account::{Account, Need};
use crate::resources;

/// How many watchers there can be; the oldest goes first.
const MOST: usize = 1_000;

/// Who watches what.
pub(crate) struct Watch {
    account: Weak<Account>,
    all: Mutex<Watchers>,
}

#[derive(Default)]
struct Watchers {
    list: Vec<Watcher>,
    polling: bool,
}

struct Watcher {
    uri: String,
    cx: Context,
    /// What it looked like when it was last told.
    seen: Option<u64>,
}

impl Watch {
    pub(crate) fn new(account: &Arc<Account>) -> Arc<Watch> {
        Arc::new(Watch { account: Arc::downgrade(account), all: Mutex::default() })
    }

    /// Somebody wants to hear of changes.
    pub(crate) async fn add(self: &Arc<Self>, uri: String, cx: Context) {
        let seen = match self.account.upgrade() {
            // Not reachable now: the first thing seen later is no change.
            Some(account) => {
                account.sync(Need::Recent).await.ok().and_then(|()| resources::print(&account, &uri))
            }
            None => None,
        };
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let by = cx.watcher();
        all.list.retain(|watcher| watcher.uri != uri || watcher.cx.watcher() != by);
        if all.list.len() >= MOST {
            all.list.remove(0);
        }
        all.list.push(Watcher { uri, cx, seen });
        if !all.polling {
            all.polling = true;
            tokio::spawn(poll(Arc::downgrade(self)));
        }
    }

    pub(crate) fn remove(&self, uri: &str, cx: &Context) {
        let by = cx.watcher();
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.list.retain(|watcher| watcher.uri != uri || watcher.cx.watcher() != by);
    }

    /// Whether anybody is left, now that those whose conversation is over are gone.
    fn tidy(&self) -> bool {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.list.retain(|watcher| !is_over(&watcher.cx));
        all.polling = !all.list.is_empty();
        all.polling
    }

    /// Tells everybody whose resource looks otherwise than before.
    fn tell(&self, account: &Account) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        for watcher in &mut all.list {
            let now = resources::print(account, &watcher.uri);
            if watcher.seen.is_some() && now.is_some() && watcher.seen != now {
                watcher.cx.announce(Event::ResourceUpdated(watcher.uri.as_str().into()));
            }
            watcher.seen = now.or(watcher.seen);
        }
    }
}

fn is_over(cx: &Context) -> bool {
    cx.end_of_session().map_or_else(|| cx.is_cancelled(), |ended| ended.is_cancelled())
}

async fn poll(watch: Weak<Watch>) {
    loop {
        let Some(here) = watch.upgrade() else { return };
        let Some(account) = here.account.upgrade() else { return };
        let pause = account.client.settings().poll;
        drop((here, account));
        tokio::time::sleep(pause).await;
        let Some(here) = watch.upgrade() else { return };
        let Some(account) = here.account.upgrade() else { return };
        if !here.tidy() {
            return;
        }
        // An outage is no change; the next look may work.
        if account.sync(Need::Now).await.is_ok() {
            here.tell(&account);
        }
    }
}
