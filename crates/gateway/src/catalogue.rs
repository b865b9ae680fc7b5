//! What each member offers, remembered for a while.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use failwell_fault::{OrFault, reason};
use failwell_render::{Cache, CacheScope};
use failwell_rpc::Json;
use failwell_server::List;

use crate::gateway::{naming_member, outside_name};

/// How long a list is believed when nobody says that it changed.
const LIFETIME: Duration = Duration::from_secs(60);

/// One item of a list.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Whose.
    pub(crate) server: String,
    /// What its server calls it.
    pub(crate) inside: String,
    /// What callers of this server alone call it.
    pub(crate) shown: String,
    /// What callers of all servers call it.
    pub(crate) outside: String,
    /// Its definition, under the outside name.
    pub(crate) definition: Json,
}

impl Entry {
    /// An item under its outside name; `None` for one without a name.
    pub(crate) fn of(server: &str, list: List, item: &Json) -> Option<Entry> {
        let member = naming_member(list);
        let inside = item.raw().as_object()?.get(member)?.as_str()?.into_owned();
        let outside = outside_name(server, list, &inside);
        let name = Json::of(&outside).or_fault(&reason::SERVER_BUG).ok()?;
        let definition = item.raw().as_object()?.replacing(member, name.raw());
        Some(Entry { server: server.to_owned(), shown: inside.clone(), inside, outside, definition })
    }
}

type Known = HashMap<(String, &'static str), Listed>;

#[derive(Debug)]
struct Listed {
    since: Instant,
    entries: Arc<Vec<Entry>>,
    cache: Cache,
}

/// Lists by member.
#[derive(Debug, Default)]
pub(crate) struct Catalogue(Mutex<Known>);

impl Catalogue {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, server: &str, list: List) -> Option<Arc<Vec<Entry>>> {
        let known = self.lock();
        let listed = known.get(&(server.to_owned(), list.member()))?;
        (listed.since.elapsed() < LIFETIME).then(|| listed.entries.clone())
    }

    pub(crate) fn put(&self, server: &str, list: List, entries: Vec<Entry>, cache: Cache) -> Arc<Vec<Entry>> {
        let entries = Arc::new(entries);
        let listed = Listed { since: Instant::now(), entries: entries.clone(), cache };
        self.lock().insert((server.to_owned(), list.member()), listed);
        entries
    }

    /// How long a list made of all these may be kept, and by whom: what the most careful of them says.
    pub(crate) fn cache(&self, list: List, otherwise: Cache) -> Cache {
        let known = self.lock();
        let of_list = known.iter().filter(|((_, member), _)| *member == list.member());
        of_list.fold(otherwise, |cache, (_, listed)| narrower(cache, listed.cache))
    }

    /// The only member that has something under this name of its own.
    pub(crate) fn owner(&self, inside: &str) -> Option<String> {
        let known = self.lock();
        let mut having =
            known.values().flat_map(|listed| listed.entries.iter()).filter(|entry| entry.inside == inside);
        let first = having.next()?.server.clone();
        having.all(|entry| entry.server == first).then_some(first)
    }

    /// Something of this member changed.
    pub(crate) fn forget(&self, server: &str) {
        self.lock().retain(|(known, _), _| known != server);
    }

    /// Every list of one kind that is known, with whose it is.
    pub(crate) fn known(&self, list: List) -> Vec<(String, Arc<Vec<Entry>>)> {
        let known = self.lock();
        let of_list = known.iter().filter(|((_, member), _)| *member == list.member());
        of_list.map(|((server, _), listed)| (server.clone(), listed.entries.clone())).collect()
    }
}

/// The shorter of two times, and private unless both are public.
pub(crate) fn narrower(one: Cache, other: Cache) -> Cache {
    let public = one.scope == CacheScope::Public && other.scope == CacheScope::Public;
    let scope = if public { CacheScope::Public } else { CacheScope::Private };
    Cache { ttl_ms: one.ttl_ms.min(other.ttl_ms), scope }
}
