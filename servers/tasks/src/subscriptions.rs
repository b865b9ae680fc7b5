//! Subscriptions to resources. The account is polled for changes, and subscribers of changed resources are
//! notified.

use std::sync::{Arc, Weak};

use failwell_sdk::{Context, Event};
use parking_lot::Mutex;

use crate::account::{Account, Freshness};
use crate::resources;

/// Maximum number of subscriptions. The oldest is evicted first.
const MOST: usize = 1_000;

pub(crate) struct Subscriptions {
    account: Weak<Account>,
    all: Mutex<SubscriptionState>,
}

#[derive(Default)]
struct SubscriptionState {
    list: Vec<Subscription>,
    polling: bool,
}

struct Subscription {
    uri: String,
    cx: Context,
    /// A fingerprint of the resource when the subscriber was last notified.
    seen: Option<u64>,
}

impl Subscriptions {
    pub(crate) fn new(account: &Arc<Account>) -> Arc<Subscriptions> {
        Arc::new(Subscriptions { account: Arc::downgrade(account), all: Mutex::default() })
    }

    pub(crate) async fn add(self: &Arc<Self>, uri: String, cx: Context) {
        let seen = match self.account.upgrade() {
            // The service is unreachable. The first state that is seen later is not a change.
            Some(account) => {
                account.sync(Freshness::Recent).await.ok().and_then(|()| resources::print(&account, &uri))
            }
            None => None,
        };
        let mut all = self.all.lock();
        let by = cx.watcher();
        all.list.retain(|watcher| watcher.uri != uri || watcher.cx.watcher() != by);
        if all.list.len() >= MOST {
            all.list.remove(0);
        }
        all.list.push(Subscription { uri, cx, seen });
        if !all.polling {
            all.polling = true;
            tokio::spawn(poll(Arc::downgrade(self)));
        }
    }

    pub(crate) fn remove(&self, uri: &str, cx: &Context) {
        let by = cx.watcher();
        let mut all = self.all.lock();
        all.list.retain(|watcher| watcher.uri != uri || watcher.cx.watcher() != by);
    }

    /// Drops subscriptions whose session has ended. Returns whether any is left.
    fn tidy(&self) -> bool {
        let mut all = self.all.lock();
        all.list.retain(|watcher| !is_over(&watcher.cx));
        all.polling = !all.list.is_empty();
        all.polling
    }

    /// Notifies the subscribers of changed resources.
    fn notify(&self, account: &Account) {
        let mut all = self.all.lock();
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

async fn poll(watch: Weak<Subscriptions>) {
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
        // An outage is not a change. The next poll may succeed.
        if account.sync(Freshness::Now).await.is_ok() {
            here.notify(&account);
        }
    }
}
