//! The access policy applied to lists and calls: which entries each caller sees and may use.

pub(super) mod hidden;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arc_swap::ArcSwap;
use failwell_fault::Fault;
use failwell_policy::{
    AccessPolicy, AccessTarget, ItemKind, KindVisibility, ResourceUri, ServerView, ViewKey,
};
use failwell_render::CacheScope;
use failwell_rpc::Caller;
use failwell_rpc::Json;
use failwell_toolbox::List;
use parking_lot::Mutex;
use serde_json::Value;

use crate::federation::catalogue::{Entry, EntryList};
use crate::federation::names::{naming_member, outside_name};
use crate::federation::portable::with_member;

/// Cached views; the cache is cleared when it is full.
const MOST_VIEWS: usize = 1_024;

/// The access policy and the views computed from it.
#[derive(Debug, Default)]
pub(crate) struct Visibility {
    policy: ArcSwap<AccessPolicy>,
    views: Mutex<HashMap<ViewOwner, CachedView>>,
}

/// The cache key: callers with the same rules share a view.
type ViewOwner = (ViewKey, String, &'static str);

/// A filtered list and the list it was computed from.
#[derive(Debug)]
struct CachedView {
    source: EntryList,
    seen: EntryList,
}

impl Visibility {
    /// Replaces the policy. Returns whether any caller may see something else than before.
    pub(crate) fn replace(&self, policy: AccessPolicy) -> bool {
        let clear = policy.is_clear();
        let before = self.policy.swap(Arc::new(policy));
        self.views.lock().clear();
        !(clear && before.is_clear())
    }

    pub(crate) fn scope(&self) -> CacheScope {
        if self.policy.load().tells_callers_apart() { CacheScope::Private } else { CacheScope::Public }
    }

    /// Whether the policy leaves all lists unchanged.
    pub(crate) fn is_clear(&self) -> bool {
        self.policy.load().is_clear()
    }

    pub(crate) fn filter(&self, entries: EntryList, server: &str, list: List, caller: &Caller) -> EntryList {
        let policy = self.policy.load();
        if policy.is_clear() {
            return entries;
        }
        let place = policy.view_key(caller);
        let view = policy.view(&place, server, sort(list));
        if view.is_clear() && !policy.has_cedar() {
            return entries;
        }
        let whose = (place.clone(), server.to_owned(), list.member());
        let mut views = self.views.lock();
        if let Some(known) = views.get(&whose).filter(|known| Arc::ptr_eq(&known.source, &entries)) {
            return known.seen.clone();
        }
        if views.len() >= MOST_VIEWS {
            views.clear();
        }
        let shown = |entry: &Entry| match resource_uri(list, &entry.inside) {
            Some(uri) => policy.shows_resource(caller, server, uri.as_ref()),
            None => {
                let target = AccessTarget { server, sort: sort(list), name: &entry.inside };
                view.shows(&entry.inside) && policy.reveals(caller, target)
            }
        };
        let seen = Arc::new(visible_entries(&entries, list, &view, shown));
        views.insert(whose, CachedView { source: entries, seen: seen.clone() });
        seen
    }

    /// What a caller could see of one kind on a server whose items are not known.
    pub(crate) fn of_kind(&self, caller: &Caller, server: &str, list: List) -> KindVisibility {
        self.policy.load().visibility(caller, server, sort(list))
    }

    /// Whether a caller may know that a resource exists. An unlisted resource may still be readable. A URI
    /// without a normal form (`None`) is visible only if the policy is not about the server's resources.
    pub(crate) fn shows_resource(&self, caller: &Caller, server: &str, uri: Option<&ResourceUri>) -> bool {
        self.policy.load().shows_resource(caller, server, uri)
    }

    /// Rejects a resource that this caller may not use.
    pub(crate) fn authorize_resource(
        &self,
        caller: &Caller,
        server: &str,
        uri: &ResourceUri,
    ) -> Result<(), Fault> {
        self.policy.load().admit_resource(caller, server, uri)
    }

    /// Whether calling this tool needs human approval.
    pub(crate) fn wants_approval(&self, caller: &Caller, server: &str, tool: &str) -> bool {
        self.policy.load().wants_approval(caller, AccessTarget { server, sort: ItemKind::Tools, name: tool })
    }

    /// Rejects an item that this caller may not use, or not with these arguments.
    pub(crate) fn authorize(
        &self,
        caller: &Caller,
        server: &str,
        list: List,
        name: &str,
        arguments: Option<&Json>,
    ) -> Result<(), Fault> {
        let thing = AccessTarget { server, sort: sort(list), name };
        self.policy.load().admit(caller, thing, arguments.map(Json::text))
    }
}

fn sort(list: List) -> ItemKind {
    match list {
        List::Tools => ItemKind::Tools,
        List::Prompts => ItemKind::Prompts,
        List::Resources | List::Templates => ItemKind::Resources,
    }
}

/// The normal form of an entry's URI, if the list has URIs and the entry's has one.
fn resource_uri(list: List, name: &str) -> Option<Option<ResourceUri>> {
    match list {
        List::Tools | List::Prompts => None,
        List::Resources => Some(ResourceUri::parse(name)),
        List::Templates => Some(ResourceUri::parse_template(name)),
    }
}

/// The visible entries, with the names and descriptions the policy gives them. A name given by the policy wins over
/// an identical original name.
fn visible_entries(
    entries: &[Arc<Entry>],
    list: List,
    view: &ServerView<'_>,
    shown: impl Fn(&Entry) -> bool,
) -> Vec<Arc<Entry>> {
    let shown: Vec<&Entry> = entries.iter().map(AsRef::as_ref).filter(|entry| shown(entry)).collect();
    let is_renamed = |entry: &Entry| view.name(&entry.inside) != entry.inside;
    let given: HashSet<&str> =
        shown.iter().filter(|entry| is_renamed(entry)).map(|entry| view.name(&entry.inside)).collect();
    let is_there = |entry: &&&Entry| is_renamed(entry) || !given.contains(entry.shown.as_str());
    shown.iter().filter(is_there).filter_map(|entry| apply_view(entry, list, view)).map(Arc::new).collect()
}

fn apply_view(entry: &Entry, list: List, view: &ServerView<'_>) -> Option<Entry> {
    let given = view.name(&entry.inside);
    let renamed = given != entry.inside;
    let shown = if renamed { given.to_owned() } else { entry.shown.clone() };
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
        quarantined: entry.quarantined,
    })
}

/// Sets one text member of a definition.
pub(crate) fn with(definition: &Json, member: &str, text: &str) -> Option<Json> {
    let text = Json::from(&Value::from(text));
    let object = definition.raw().as_object()?;
    if object.get(member).is_some() {
        return Some(object.replacing(member, text.raw()));
    }
    Some(with_member(object, member, text.raw()))
}
