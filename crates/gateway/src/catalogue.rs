//! What each member offers, remembered for a while.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use failwell_fault::{Fault, OrFault, reason};
use failwell_render::{Cache, CacheScope};
use failwell_rpc::{Era, Json, Raw};
use failwell_server::{HeaderParam, List};

use crate::gateway::{naming_member, outside_name};
use crate::http::marked;
use crate::pinning::Places;
use crate::portable::Portable;

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
    /// The same for clients of the session era, where that is another.
    pub(crate) session_definition: Option<Json>,
    /// What it wants repeated in headers, if it is a tool.
    pub(crate) header_params: Vec<HeaderParam>,
    /// Whether it can be a task.
    pub(crate) tasks: TaskSupport,
    /// Whether nobody may see or call it until the operator has looked at it.
    pub(crate) held: bool,
}

/// What a member just listed.
pub(crate) struct Fresh<'a> {
    pub(crate) items: &'a [Json],
    /// Each of them as clients take it; `None` for one that clients would refuse.
    pub(crate) shown: &'a [Option<Portable>],
    /// Which of them are held.
    pub(crate) held: &'a Places,
    /// How long they may be kept.
    pub(crate) cache: Cache,
    /// Which life of the member said so: after its end it may say something else.
    pub(crate) lives: u64,
}

/// What it takes to call something.
#[derive(Debug)]
pub(crate) struct Callee {
    /// What its server calls it.
    pub(crate) inside: String,
    /// Whether it can be a task.
    pub(crate) tasks: TaskSupport,
}

/// Whether a tool of the session era can be a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskSupport {
    Forbidden,
    Optional,
    Required,
}

impl TaskSupport {
    fn of(definition: Raw<'_>) -> Option<TaskSupport> {
        match definition.as_object()?.get("execution")?.as_object()?.get("taskSupport")?.as_str()?.as_ref() {
            "required" => Some(TaskSupport::Required),
            "optional" => Some(TaskSupport::Optional),
            _ => None,
        }
    }
}

impl Entry {
    /// An item under its outside name; `None` for one without a name.
    pub(crate) fn of(server: &str, list: List, item: &Json, shown: &Portable) -> Option<Entry> {
        let member = naming_member(list);
        let inside = item.raw().as_object()?.get(member)?.as_str()?.into_owned();
        let outside = outside_name(server, list, &inside);
        let name = Json::of(&outside).or_fault(&reason::SERVER_BUG).ok()?;
        let renamed = |item: &Json| Some(item.raw().as_object()?.replacing(member, name.raw()));
        let definition = renamed(&shown.definition)?;
        let session_definition = shown.session.as_ref().and_then(renamed);
        let schema = if list == List::Tools { item.raw().as_object()?.get("inputSchema") } else { None };
        let header_params = marked(schema).unwrap_or_default();
        let tasks = TaskSupport::of(item.raw()).unwrap_or(TaskSupport::Forbidden);
        let (server, shown) = (server.to_owned(), inside.clone());
        Some(Entry {
            server,
            inside,
            shown,
            outside,
            definition,
            session_definition,
            header_params,
            tasks,
            held: false,
        })
    }

    /// Its definition, for clients of this era.
    pub(crate) fn definition_for(&self, era: Era) -> &Json {
        let session = self.session_definition.as_ref().filter(|_| era == Era::Session);
        session.unwrap_or(&self.definition)
    }

    /// What it takes to call it, if it is not held.
    pub(crate) fn callee(&self) -> Result<Callee, Fault> {
        if self.held {
            return Err(Fault::new(&reason::POLICY_PIN_CHANGED));
        }
        Ok(Callee { inside: self.inside.clone(), tasks: self.tasks })
    }
}

/// The names of what is there to be called.
pub(crate) fn shown_names(entries: &[Entry], name: impl Fn(&Entry) -> &String) -> impl Iterator<Item = &str> {
    entries.iter().filter(|entry| !entry.held).map(move |entry| name(entry).as_str())
}

/// By member, then by kind of list.
type Known = BTreeMap<String, [Option<Listed>; 4]>;

#[derive(Debug, Clone)]
struct Listed {
    since: Instant,
    entries: Arc<Vec<Entry>>,
    cache: Cache,
    lives: u64,
}

/// Lists by member: every call reads them, and few things change them, so they are swapped whole.
#[derive(Debug, Default)]
pub(crate) struct Catalogue(ArcSwap<Known>);

impl Catalogue {
    fn change(&self, change: impl Fn(&mut Known)) {
        self.0.rcu(|known| {
            let mut after = Known::clone(known);
            change(&mut after);
            after
        });
    }

    /// A list that this life of a member said lately.
    pub(crate) fn get(&self, server: &str, list: List, lives: u64) -> Option<Arc<Vec<Entry>>> {
        let known = self.0.load();
        let listed = known.get(server)?.get(list as usize)?.as_ref()?;
        (listed.lives == lives && listed.since.elapsed() < LIFETIME).then(|| listed.entries.clone())
    }

    pub(crate) fn put(
        &self,
        server: &str,
        list: List,
        entries: Vec<Entry>,
        fresh: &Fresh<'_>,
    ) -> Arc<Vec<Entry>> {
        let entries = Arc::new(entries);
        let (cache, lives) = (fresh.cache, fresh.lives);
        let listed = Listed { since: Instant::now(), entries: entries.clone(), cache, lives };
        self.change(|known| {
            if let Some(place) = known.entry(server.to_owned()).or_default().get_mut(list as usize) {
                *place = Some(listed.clone());
            }
        });
        entries
    }

    /// How long a list made of all these may be kept, and by whom: what the most careful of them says.
    pub(crate) fn cache(&self, list: List, otherwise: Cache) -> Cache {
        of_list(&self.0.load(), list).fold(otherwise, |cache, listed| narrower(cache, listed.cache))
    }

    /// A list of this member, as far as it is known, however old.
    pub(crate) fn last(&self, server: &str, list: List) -> Option<Arc<Vec<Entry>>> {
        let known = self.0.load();
        let listed = known.get(server)?.get(list as usize)?.as_ref()?;
        Some(listed.entries.clone())
    }

    /// The only member that has something under this name without a prefix.
    pub(crate) fn owner(&self, name: &str) -> Option<String> {
        let known = self.0.load();
        let lists = known.values().flatten().flatten();
        let mut having = lists
            .flat_map(|listed| listed.entries.iter())
            .filter(|entry| entry.inside == name || entry.shown == name);
        let first = having.next()?.server.clone();
        having.all(|entry| entry.server == first).then_some(first)
    }

    /// Something of this member changed.
    pub(crate) fn forget(&self, server: &str) {
        self.change(|known| drop(known.remove(server)));
    }

    /// Everything has to be asked for again.
    pub(crate) fn clear(&self) {
        self.0.store(Arc::default());
    }

    /// Every list of one kind that is known, with whose it is.
    pub(crate) fn known(&self, list: List) -> Vec<(String, Arc<Vec<Entry>>)> {
        let known = self.0.load();
        let listed =
            known.iter().filter_map(|(server, lists)| Some((server, lists.get(list as usize)?.as_ref()?)));
        listed.map(|(server, listed)| (server.clone(), listed.entries.clone())).collect()
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
