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
    /// What it wants repeated in headers, if it is a tool.
    pub(crate) header_params: Vec<HeaderParam>,
}

impl Entry {
    /// An item under its outside name; `None` for one without a name.
    pub(crate) fn of(server: &str, list: List, item: &Json) -> Option<Entry> {
        let member = naming_member(list);
        let inside = item.raw().as_object()?.get(member)?.as_str()?.into_owned();
        let outside = outside_name(server, list, &inside);
        let name = Json::of(&outside).or_fault(&reason::SERVER_BUG).ok()?;
        let definition = item.raw().as_object()?.replacing(member, name.raw());
        let schema = if list == List::Tools { item.raw().as_object()?.get("inputSchema") } else { None };
        let header_params = marked(schema).unwrap_or_default();
        Some(Entry {
            server: server.to_owned(),
            shown: inside.clone(),
            inside,
            outside,
            definition,
            header_params,
        })
    }
}

/// By member, then by kind of list.
type Known = HashMap<String, [Option<Listed>; 4]>;

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
        let listed = known.get(server)?.get(list as usize)?.as_ref()?;
        (listed.since.elapsed() < LIFETIME).then(|| listed.entries.clone())
    }

    pub(crate) fn put(&self, server: &str, list: List, entries: Vec<Entry>, cache: Cache) -> Arc<Vec<Entry>> {
        let entries = Arc::new(entries);
        let listed = Listed { since: Instant::now(), entries: entries.clone(), cache };
        if let Some(place) = self.lock().entry(server.to_owned()).or_default().get_mut(list as usize) {
            *place = Some(listed);
        }
        entries
    }

    /// How long a list made of all these may be kept, and by whom: what the most careful of them says.
    pub(crate) fn cache(&self, list: List, otherwise: Cache) -> Cache {
        of_list(&self.lock(), list).fold(otherwise, |cache, listed| narrower(cache, listed.cache))
    }

    /// What is known of a member, however long ago it was learnt.
    pub(crate) fn known_of(&self, server: &str, list: List) -> Option<Arc<Vec<Entry>>> {
        let known = self.lock();
        Some(known.get(server)?.get(list as usize)?.as_ref()?.entries.clone())
    }

    /// Something of this member changed.
    pub(crate) fn forget(&self, server: &str) {
        self.lock().remove(server);
    }

    /// Every list of one kind that is known, with whose it is.
    pub(crate) fn known(&self, list: List) -> Vec<(String, Arc<Vec<Entry>>)> {
        let known = self.lock();
        let of_list =
            known.iter().filter_map(|(server, lists)| Some((server, lists.get(list as usize)?.as_ref()?)));
        of_list.map(|(server, listed)| (server.clone(), listed.entries.clone())).collect()
    }
}

fn of_list(known: &Known, list: List) -> impl Iterator<Item = &Listed> {
    known.values().filter_map(move |lists| lists.get(list as usize)?.as_ref())
}

/// The shorter of two times, and private unless both are public.
pub(crate) fn narrower(one: Cache, other: Cache) -> Cache {
    let public = one.scope == CacheScope::Public && other.scope == CacheScope::Public;
    let scope = if public { CacheScope::Public } else { CacheScope::Private };
    Cache { ttl_ms: one.ttl_ms.min(other.ttl_ms), scope }
}
