//! Members that do not list their items in time. The combined list is returned without them; they are asked on in the
//! background, and clients are notified when they answer.

use std::collections::HashSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use failwell_backoff::Backoff;
use failwell_fault::{Fault, OrFault, reason};
use failwell_toolbox::{Context, Event, List};
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use crate::federation::Federation;
use crate::federation::catalogue::EntryList;
use crate::federation::member::{Member, OWN_LIST_LIMIT};
use crate::upstream::PROBE;

/// The upper bound of the setting `list_wait_s`.
const LONGEST_LIST_WAIT: Duration = Duration::from_secs(60);
/// The delay between attempts.
const BACKOFF: Backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(30));
/// Attempts before the next list request has to ask again.
const MOST_TRIES: u32 = 12;

type ListResult = Result<EntryList, Fault>;

/// The lists that are being fetched in the background, by member and kind.
#[derive(Debug, Default)]
pub(crate) struct BackgroundListing(Mutex<HashSet<(String, &'static str)>>);

impl BackgroundListing {
    fn has(&self, server: &str, list: List) -> bool {
        self.0.lock().contains(&(server.to_owned(), list.member()))
    }

    /// Returns whether the list was not being fetched yet.
    fn begin(&self, server: &str, list: List) -> bool {
        self.0.lock().insert((server.to_owned(), list.member()))
    }

    fn end(&self, server: &str, list: List) {
        self.0.lock().remove(&(server.to_owned(), list.member()));
    }
}

impl Federation {
    /// A member's list as this caller sees it, or a fault if the member takes too long.
    pub(crate) async fn list_within_limit(
        self: &Arc<Self>,
        member: &Member,
        list: List,
        cx: &Context,
    ) -> ListResult {
        let entries = match self.catalogue.get(member.name(), list, member.generation()) {
            Some(known) => known,
            None if self.is_hidden(member, &cx.client().caller) => return Ok(EntryList::default()),
            None => self.list_or_time_out(member, list, cx).await?,
        };
        Ok(self.visibility.filter(entries, member.name(), list, &cx.client().caller))
    }

    async fn list_or_time_out(self: &Arc<Self>, member: &Member, list: List, cx: &Context) -> ListResult {
        let wait = self.list_timeout(member, list);
        let mut asking = {
            let (federation, member, cx) = (self.clone(), member.clone(), cx.clone());
            tokio::spawn(async move { federation.listed(&member, list, &cx).await })
        };
        if let Ok(listed) = tokio::time::timeout(wait, &mut asking).await {
            return listed.or_fault(&reason::SERVER_BUG)?;
        }
        self.continue_in_background(asking, member, list, cx);
        Err(member.list_wait_exceeded(cx))
    }

    /// How long a list request waits for a member. A starting member gets extra time to negotiate its era, unless it
    /// already delayed an earlier request.
    pub(crate) fn list_timeout(&self, member: &Member, list: List) -> Duration {
        let Member::Upstream(upstream) = member else { return OWN_LIST_LIMIT };
        let wait = upstream.settings().list_wait;
        let has_time = upstream.is_up() || self.background.has(member.name(), list);
        if has_time { wait } else { (wait + PROBE).min(LONGEST_LIST_WAIT) }
    }

    /// Continues to ask in the background, once for all callers.
    fn continue_in_background(
        self: &Arc<Self>,
        asking: JoinHandle<ListResult>,
        member: &Member,
        list: List,
        cx: &Context,
    ) {
        if self.background.begin(member.name(), list) {
            let (federation, member, cx) = (Arc::downgrade(self), member.clone(), cx.clone());
            tokio::spawn(async move {
                let came = retry_listing(&federation, asking, &member, list, &cx).await;
                let Some(federation) = federation.upgrade() else { return };
                federation.background.end(member.name(), list);
                if came.is_some() {
                    federation.hubs.announce(member.name(), &change_of(list), None);
                }
            });
        }
    }
}

/// Retries until the member answers; `None` if it gives up or the member was removed.
async fn retry_listing(
    federation: &Weak<Federation>,
    first: JoinHandle<ListResult>,
    member: &Member,
    list: List,
    cx: &Context,
) -> Option<()> {
    let mut listed = first.await.ok()?;
    for failures in 1..=MOST_TRIES {
        if listed.is_ok() {
            return Some(());
        }
        let end = federation.upgrade()?.end.clone();
        tokio::select! {
            () = end.cancelled() => return None,
            () = tokio::time::sleep(BACKOFF.delay(failures)) => {}
        }
        let federation = federation.upgrade().filter(|federation| federation.has(member))?;
        listed = federation.listed(member, list, cx).await;
    }
    listed.ok().map(drop)
}

fn change_of(list: List) -> Event {
    match list {
        List::Tools => Event::ToolsChanged,
        List::Prompts => Event::PromptsChanged,
        List::Resources | List::Templates => Event::ResourcesChanged,
    }
}
