//! What one caller sees of the members: the operator's rules, laid over what the members say of themselves.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use failwell_fault::{Fault, OrFault, reason};
use failwell_policy::{Caller, Rules, Sort, Standing, View};
use failwell_render::CacheScope;
use failwell_rpc::Json;
use failwell_server::List;

use crate::catalogue::Entry;
use crate::gateway::{naming_member, outside_name, replaced};

/// Views that are kept; past it they are made again.
const MOST_KEPT: usize = 1_024;

/// The rules, and what they come to.
#[derive(Debug, Default)]
pub(crate) struct Veil {
    rules: ArcSwap<Rules>,
    kept: Mutex<HashMap<Whose, Kept>>,
}

/// Callers with the same rules share a view of a list.
type Whose = (Standing, String, &'static str);

/// A view, and what it is a view of.
#[derive(Debug)]
struct Kept {
    of: Arc<Vec<Entry>>,
    seen: Arc<Vec<Entry>>,
}

impl Veil {
    /// From now on these are the rules.
    pub(crate) fn replace(&self, rules: Rules) {
        self.rules.store(Arc::new(rules));
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Who may keep a list.
    pub(crate) fn scope(&self) -> CacheScope {
        if self.rules.load().tell_callers_apart() { CacheScope::Private } else { CacheScope::Public }
    }

    /// What a caller sees of a list.
    pub(crate) fn over(&self, entries: Arc<Vec<Entry>>, server: &str, list: List, caller: &Caller) -> Arc<Vec<Entry>> {
        let rules = self.rules.load();
        if rules.is_empty() {
            return entries;
        }
        let standing = rules.standing(caller);
        let view = rules.about(&standing, server, sort(list));
        if view.is_clear() {
            return entries;
        }
        let whose = (standing.clone(), server.to_owned(), list.member());
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.get(&whose).filter(|known| Arc::ptr_eq(&known.of, &entries)) {
            return known.seen.clone();
        }
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        let seen = Arc::new(seen(&entries, list, &view));
        kept.insert(whose, Kept { of: entries, seen: seen.clone() });
        seen
    }

    /// Whether a caller may know of a resource. One that is not listed may be readable all the same.
    pub(crate) fn shows_resource(&self, server: &str, uri: &str, caller: &Caller) -> bool {
        let rules = self.rules.load();
        rules.is_empty() || rules.about(&rules.standing(caller), server, Sort::Resources).shows(uri)
    }

    /// Refuses arguments the operator does not allow.
    pub(crate) fn check_arguments(&self, server: &str, tool: &str, arguments: &Json, caller: &Caller) -> Result<(), Fault> {
        let rules = self.rules.load();
        if rules.is_empty() {
            return Ok(());
        }
        let standing = rules.standing(caller);
        let view = rules.about(&standing, server, Sort::Tools);
        view.argument_checks(tool).try_for_each(|check| check.check(arguments.text()))
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
fn seen(entries: &[Entry], list: List, view: &View<'_>) -> Vec<Entry> {
    let shown: Vec<&Entry> = entries.iter().filter(|entry| view.shows(&entry.inside)).collect();
    let given: HashSet<&str> = shown
        .iter()
        .map(|entry| (view.name(&entry.inside), entry.inside.as_str()))
        .filter(|(name, inside)| name != inside)
        .map(|(name, _)| name)
        .collect();
    let taken = |entry: &&&Entry| view.name(&entry.inside) == entry.inside && given.contains(entry.inside.as_str());
    shown.iter().filter(|entry| !taken(entry)).filter_map(|entry| dressed(entry, list, view)).collect()
}

fn dressed(entry: &Entry, list: List, view: &View<'_>) -> Option<Entry> {
    let shown = view.name(&entry.inside).to_owned();
    let outside = if shown == entry.shown { entry.outside.clone() } else { outside_name(&entry.server, list, &shown) };
    let mut definition = entry.definition.clone();
    if outside != entry.outside {
        definition = replaced(definition.raw(), naming_member(list), &text(&outside)?)?;
    }
    if let Some(description) = view.description(&entry.inside) {
        definition = replaced(definition.raw(), "description", &text(description)?)?;
    }
    Some(Entry { server: entry.server.clone(), inside: entry.inside.clone(), shown, outside, definition })
}

fn text(value: &str) -> Option<Json> {
    Json::of(&value).or_fault(&reason::SERVER_BUG).ok()
}
