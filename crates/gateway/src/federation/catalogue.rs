//! The cached lists of all members.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use failwell_fault::{Fault, OrFault, reason};
use failwell_render::{Cache, CacheScope};
use failwell_rpc::{Era, Json, Raw};
use failwell_toolbox::{HeaderParam, List};

use crate::federation::names::{naming_member, outside_name};
use crate::federation::pinning::ItemIndices;
use crate::federation::portable::PortableDefinition;
use crate::upstream::header_params;

/// How long a list is used if no change is announced.
const LIFETIME: Duration = Duration::from_secs(60);

/// One item of a list.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) server: String,
    /// Its name at the member.
    pub(crate) inside: String,
    /// Its name at `/mcp/<server>`.
    pub(crate) shown: String,
    /// Its name at `/mcp`.
    pub(crate) outside: String,
    pub(crate) definition: Json,
    /// The definition for clients of the session era, if different.
    pub(crate) session_definition: Option<Json>,
    /// Arguments of the tool that are repeated in HTTP headers.
    pub(crate) header_params: Vec<HeaderParam>,
    pub(crate) tasks: TaskSupport,
    /// Hidden and not callable until the operator approves it.
    pub(crate) quarantined: bool,
}

/// A list that a member just returned.
pub(crate) struct FetchedList<'a> {
    pub(crate) items: &'a [Json],
    /// The normalized items; `None` for an omitted one.
    pub(crate) shown: &'a [Option<PortableDefinition>],
    pub(crate) quarantined: &'a ItemIndices,
    pub(crate) cache: Cache,
    /// The generation of the member that returned the list: its next process may return another one.
    pub(crate) generation: u64,
}

pub(crate) type EntryList = Arc<Vec<Arc<Entry>>>;

/// The number of entries that callers can use.
pub(crate) fn usable(entries: &[Arc<Entry>]) -> usize {
    entries.iter().filter(|entry| !entry.quarantined).count()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskSupport {
    Forbidden,
    Optional,
    Required,
}

impl TaskSupport {
    fn parse(definition: Raw<'_>) -> Option<TaskSupport> {
        match definition.as_object()?.get("execution")?.as_object()?.get("taskSupport")?.as_str()?.as_ref() {
            "required" => Some(TaskSupport::Required),
            "optional" => Some(TaskSupport::Optional),
            _ => None,
        }
    }
}

impl Entry {
    /// Builds an entry; `None` for an item without a name.
    pub(crate) fn new(server: &str, list: List, item: &Json, shown: &PortableDefinition) -> Option<Entry> {
        let member = naming_member(list);
        let inside = item.raw().as_object()?.get(member)?.as_str()?.into_owned();
        let outside = outside_name(server, list, &shown.name);
        let name = Json::of(&outside).or_fault(&reason::SERVER_BUG).ok()?;
        let renamed = |item: &Json| Some(item.raw().as_object()?.replacing(member, name.raw()));
        let definition = renamed(&shown.definition)?;
        let session_definition = shown.session.as_ref().and_then(renamed);
        let schema = if list == List::Tools { item.raw().as_object()?.get("inputSchema") } else { None };
        let header_params = header_params(schema).unwrap_or_default();
        let tasks = TaskSupport::parse(item.raw()).unwrap_or(TaskSupport::Forbidden);
        let (server, shown) = (server.to_owned(), shown.name.clone());
        Some(Entry {
            server,
            inside,
            shown,
            outside,
            definition,
            session_definition,
            header_params,
            tasks,
            quarantined: false,
        })
    }

    pub(crate) fn definition_for(&self, era: Era) -> &Json {
        let session = self.session_definition.as_ref().filter(|_| era == Era::Session);
        session.unwrap_or(&self.definition)
    }

    pub(crate) fn check_quarantine(&self) -> Result<(), Fault> {
        if self.quarantined { Err(Fault::new(&reason::POLICY_PIN_CHANGED)) } else { Ok(()) }
    }
}

/// The names of entries that are not quarantined.
pub(crate) fn shown_names(
    entries: &[Arc<Entry>],
    name: impl Fn(&Entry) -> &String,
) -> impl Iterator<Item = &str> {
    entries.iter().filter(|entry| !entry.quarantined).map(move |entry| name(entry).as_str())
}

/// By member name, then by kind of list.
type ListsByMember = BTreeMap<String, [Option<CachedList>; 4]>;

#[derive(Debug, Clone)]
struct CachedList {
    since: Instant,
    entries: EntryList,
    cache: Cache,
    generation: u64,
}

/// Every call reads the lists and few events change them, so the map is replaced as a whole.
#[derive(Debug, Default)]
pub(crate) struct Catalogue(ArcSwap<ListsByMember>);

impl Catalogue {
    fn change(&self, change: impl Fn(&mut ListsByMember)) {
        self.0.rcu(|known| {
            let mut after = ListsByMember::clone(known);
            change(&mut after);
            after
        });
    }

    /// A cached list, if this generation of the member returned it recently.
    pub(crate) fn get(&self, server: &str, list: List, generation: u64) -> Option<EntryList> {
        let known = self.0.load();
        let listed = known.get(server)?.get(list as usize)?.as_ref()?;
        (listed.generation == generation && listed.since.elapsed() < LIFETIME).then(|| listed.entries.clone())
    }

    pub(crate) fn put(
        &self,
        server: &str,
        list: List,
        entries: Vec<Arc<Entry>>,
        fresh: &FetchedList<'_>,
    ) -> EntryList {
        let entries = Arc::new(entries);
        let (cache, generation) = (fresh.cache, fresh.generation);
        let listed = CachedList { since: Instant::now(), entries: entries.clone(), cache, generation };
        self.change(|known| {
            if let Some(place) = known.entry(server.to_owned()).or_default().get_mut(list as usize) {
                *place = Some(listed.clone());
            }
        });
        entries
    }

    /// The narrowest cache policy of all members' lists.
    pub(crate) fn cache(&self, list: List, otherwise: Cache) -> Cache {
        cached_lists(&self.0.load(), list).fold(otherwise, |cache, listed| narrower(cache, listed.cache))
    }

    /// The last known list of a member, however old.
    pub(crate) fn last(&self, server: &str, list: List) -> Option<EntryList> {
        let known = self.0.load();
        let listed = known.get(server)?.get(list as usize)?.as_ref()?;
        Some(listed.entries.clone())
    }

    pub(crate) fn forget(&self, server: &str) {
        self.change(|known| drop(known.remove(server)));
    }

    pub(crate) fn clear(&self) {
        self.0.store(Arc::default());
    }

    /// All cached lists of one kind, by member.
    pub(crate) fn known(&self, list: List) -> Vec<(String, EntryList)> {
        let known = self.0.load();
        let listed =
            known.iter().filter_map(|(server, lists)| Some((server, lists.get(list as usize)?.as_ref()?)));
        listed.map(|(server, listed)| (server.clone(), listed.entries.clone())).collect()
    }
}

fn cached_lists(known: &ListsByMember, list: List) -> impl Iterator<Item = &CachedList> {
    known.values().filter_map(move |lists| lists.get(list as usize)?.as_ref())
}

/// The shorter time, and private unless both are public.
pub(crate) fn narrower(one: Cache, other: Cache) -> Cache {
    let public = one.scope == CacheScope::Public && other.scope == CacheScope::Public;
    let scope = if public { CacheScope::Public } else { CacheScope::Private };
    Cache { ttl_ms: one.ttl_ms.min(other.ttl_ms), scope }
}
