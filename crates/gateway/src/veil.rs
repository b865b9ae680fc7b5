//! What one caller sees of the members: the operator's word, laid over what the members say of themselves.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use failwell_fault::Fault;
use failwell_policy::{Caller, Place, Ruling, Sort, Thing, View};
use failwell_render::CacheScope;
use failwell_rpc::Json;
use failwell_server::List;
use serde_json::Value;

use crate::catalogue::Entry;
use crate::gateway::{naming_member, outside_name};
use crate::portable::with_member;

/// Views that are kept; past it they are made again.
const MOST_KEPT: usize = 1_024;

/// The rules, and what they come to.
#[derive(Debug, Default)]
pub(crate) struct Veil {
    ruling: ArcSwap<Ruling>,
    kept: Mutex<HashMap<Whose, Kept>>,
}

/// Callers who are treated alike share a view of a list.
type Whose = (Place, String, &'static str);

/// A view, and what it is a view of.
#[derive(Debug)]
struct Kept {
    of: Arc<Vec<Entry>>,
    seen: Arc<Vec<Entry>>,
}

impl Veil {
    /// From now on this is the operator's word. Says whether anybody may see something else than before.
    pub(crate) fn replace(&self, ruling: Ruling) -> bool {
        let clear = ruling.is_clear();
        let before = self.ruling.swap(Arc::new(ruling));
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clear();
        !(clear && before.is_clear())
    }

    /// Who may keep a list.
    pub(crate) fn scope(&self) -> CacheScope {
        if self.ruling.load().tells_callers_apart() { CacheScope::Private } else { CacheScope::Public }
    }

    /// Whether lists pass as they are.
    pub(crate) fn is_clear(&self) -> bool {
        self.ruling.load().is_clear()
    }

    /// What a caller sees of a list.
    pub(crate) fn over(
        &self,
        entries: Arc<Vec<Entry>>,
        server: &str,
        list: List,
        caller: &Caller,
    ) -> Arc<Vec<Entry>> {
        let ruling = self.ruling.load();
        if ruling.is_clear() {
            return entries;
        }
        let place = ruling.place(caller);
        let view = ruling.view(&place, server, sort(list));
        if view.is_clear() && !ruling.has_charter() {
            return entries;
        }
        let whose = (place.clone(), server.to_owned(), list.member());
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.get(&whose).filter(|known| Arc::ptr_eq(&known.of, &entries)) {
            return known.seen.clone();
        }
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        let revealed = |name: &str| ruling.reveals(caller, Thing { server, sort: sort(list), name });
        let seen = Arc::new(seen(&entries, list, &view, revealed));
        kept.insert(whose, Kept { of: entries, seen: seen.clone() });
        seen
    }

    /// Whether a caller may know of a resource. One that is not listed may be readable all the same.
    pub(crate) fn shows_resource(&self, caller: &Caller, server: &str, uri: &str) -> bool {
        self.ruling.load().shows(caller, Thing { server, sort: Sort::Resources, name: uri })
    }

    /// Whether a person has to say yes before this caller calls a tool.
    pub(crate) fn wants_approval(&self, caller: &Caller, server: &str, tool: &str) -> bool {
        self.ruling.load().wants_approval(caller, Thing { server, sort: Sort::Tools, name: tool })
    }

    /// Refuses what this caller may not use, or not with these arguments.
    pub(crate) fn admit(
        &self,
        caller: &Caller,
        server: &str,
        list: List,
        name: &str,
        arguments: Option<&Json>,
    ) -> Result<(), Fault> {
        let thing = Thing { server, sort: sort(list), name };
        self.ruling.load().admit(caller, thing, arguments.map(Json::text))
    }
}

fn sort(list: List) -> Sort {
    match list {
        List::Tools => Sort::Tools,
        List::Prompts => Sort::Prompts,
        List::Resources | List::Templates => Sort::Resources,
    }
}

/// The entries that are there, under the names and with the descriptions the rules give them. A given name is
/// stronger than one that happens to be the same.
fn seen(entries: &[Entry], list: List, view: &View<'_>, revealed: impl Fn(&str) -> bool) -> Vec<Entry> {
    let shown: Vec<&Entry> =
        entries.iter().filter(|entry| view.shows(&entry.inside) && revealed(&entry.inside)).collect();
    let is_renamed = |entry: &Entry| view.name(&entry.inside) != entry.inside;
    let given: HashSet<&str> =
        shown.iter().filter(|entry| is_renamed(entry)).map(|entry| view.name(&entry.inside)).collect();
    let is_there = |entry: &&&Entry| is_renamed(entry) || !given.contains(entry.inside.as_str());
    shown.iter().filter(is_there).filter_map(|entry| dressed(entry, list, view)).collect()
}

fn dressed(entry: &Entry, list: List, view: &View<'_>) -> Option<Entry> {
    let shown = view.name(&entry.inside).to_owned();
    let renamed = shown != entry.inside;
    let outside = if renamed { outside_name(&entry.server, list, &shown) } else { entry.outside.clone() };
    let words = |definition: &Json| {
        let mut definition = definition.clone();
        if renamed {
            definition = with(&definition, naming_member(list), &outside)?;
        }
        if let Some(description) = view.description(&entry.inside) {
            definition = with(&definition, "description", description)?;
        }
        Some(definition)
    };
    let definition = words(&entry.definition)?;
    let session_definition = entry.session_definition.as_ref().and_then(words);
    Some(Entry {
        server: entry.server.clone(),
        inside: entry.inside.clone(),
        shown,
        outside,
        definition,
        session_definition,
        header_params: entry.header_params.clone(),
        tasks: entry.tasks,
        held: entry.held,
    })
}

/// A definition with one member of text; everything else as it came.
pub(crate) fn with(definition: &Json, member: &str, text: &str) -> Option<Json> {
    let text = Json::from(&Value::from(text));
    let object = definition.raw().as_object()?;
    if object.get(member).is_some() {
        return Some(object.replacing(member, text.raw()));
    }
    Some(with_member(object, member, text.raw()))
}
