//! Members that take too long to say what they have. A list does without them after a while; they are asked on behind
//! the scenes, and whoever listens hears when there is more to see.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use failwell_fault::{Fault, OrFault, reason};
use failwell_server::{Context, Event, List};
use tokio::task::JoinHandle;

use crate::catalogue::Entry;
use crate::gateway::{Inner, OWN_LIST_LIMIT};
use crate::introduction::PROBE;
use crate::member::Member;

/// The longest a list waits for anybody: what `list_wait_s` can be at the most.
const LONGEST_LIST_WAIT: Duration = Duration::from_secs(60);
/// Between two attempts: doubled each time …
const SHORTEST_WAIT: Duration = Duration::from_secs(1);
/// … up to this.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// How often a member is asked again before that is left to the next list.
const MOST_TRIES: u32 = 12;

type Listed = Result<Arc<Vec<Entry>>, Fault>;

/// Which lists are being waited for, beside everybody.
#[derive(Debug, Default)]
pub(crate) struct Late(Mutex<HashSet<(String, &'static str)>>);

impl Late {
    fn lock(&self) -> MutexGuard<'_, HashSet<(String, &'static str)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has(&self, server: &str, list: List) -> bool {
        self.lock().contains(&(server.to_owned(), list.member()))
    }

    /// Whether nobody waited for it yet.
    fn begin(&self, server: &str, list: List) -> bool {
        self.lock().insert((server.to_owned(), list.member()))
    }

    fn end(&self, server: &str, list: List) {
        self.lock().remove(&(server.to_owned(), list.member()));
    }
}

impl Inner {
    /// What a caller sees of a member's list, unless the member takes too long.
    pub(crate) async fn in_time(self: &Arc<Self>, member: &Member, list: List, cx: &Context) -> Listed {
        let entries = match self.catalogue.get(member.name(), list, member.lives()) {
            Some(known) => known,
            None => self.asked_in_time(member, list, cx).await?,
        };
        Ok(self.veil.over(entries, member.name(), list, &cx.client().caller))
    }

    async fn asked_in_time(self: &Arc<Self>, member: &Member, list: List, cx: &Context) -> Listed {
        let wait = self.patience_with(member, list);
        let mut asking = {
            let (inner, member, cx) = (self.clone(), member.clone(), cx.clone());
            tokio::spawn(async move { inner.listed(&member, list, &cx).await })
        };
        if let Ok(listed) = tokio::time::timeout(wait, &mut asking).await {
            return listed.or_fault(&reason::SERVER_BUG)?;
        }
        self.ask_on(asking, member, list, cx);
        Err(member.list_wait_exceeded(cx))
    }

    /// How long a list waits for a member. One that is started just now has as much more as it takes to find out which
    /// era it speaks; one that kept others waiting already has not.
    pub(crate) fn patience_with(&self, member: &Member, list: List) -> Duration {
        let Member::Upstream(upstream) = member else { return OWN_LIST_LIMIT };
        let wait = upstream.settings().list_wait;
        let has_time = upstream.is_up() || self.late.has(member.name(), list);
        if has_time { wait } else { (wait + PROBE).min(LONGEST_LIST_WAIT) }
    }

    /// Goes on with what nobody waits for any more, once for all who asked.
    fn ask_on(self: &Arc<Self>, asking: JoinHandle<Listed>, member: &Member, list: List, cx: &Context) {
        if self.late.begin(member.name(), list) {
            let (inner, member, cx) = (Arc::downgrade(self), member.clone(), cx.clone());
            tokio::spawn(async move {
                let came = keep_asking(&inner, asking, &member, list, &cx).await;
                let Some(inner) = inner.upgrade() else { return };
                inner.late.end(member.name(), list);
                if came.is_some() {
                    inner.hubs.announce(member.name(), &change_of(list), None);
                }
            });
        }
    }
}

/// Until it says what it has; `None` when it is given up, or is no member any more.
async fn keep_asking(
    inner: &Weak<Inner>,
    first: JoinHandle<Listed>,
    member: &Member,
    list: List,
    cx: &Context,
) -> Option<()> {
    let mut listed = first.await.ok()?;
    let mut wait = SHORTEST_WAIT;
    for _ in 0..MOST_TRIES {
        if listed.is_ok() {
            return Some(());
        }
        let end = inner.upgrade()?.end.clone();
        tokio::select! {
            () = end.cancelled() => return None,
            () = tokio::time::sleep(wait) => {}
        }
        wait = (wait * 2).min(LONGEST_WAIT);
        let inner = inner.upgrade().filter(|inner| inner.has(member))?;
        listed = inner.listed(member, list, cx).await;
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
