//! Pinned tool definitions: as first seen, or as last approved.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use failwell_fault::{Fault, OrFault, reason};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

mod diff;
pub(crate) mod rows;

pub use diff::{DiffLine, diff};
pub use rows::{PinRecord, QuarantinedItem};

use crate::clock::now_ms as now;
use crate::consent_file::ConsentFile;
use crate::text::readable;
use rows::{ListedDiff, ObservedItem};

/// The action on a tool whose definition differs from its pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PinAction {
    /// The tool is quarantined: it is in no list and cannot be called until the operator approves it.
    #[default]
    Hold,
    /// The tool passes; the operator is notified.
    Warn,
    /// The tool is not checked.
    Off,
}

/// The action on a new tool of a known server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NewTools {
    /// The tool is pinned at once.
    #[default]
    Allow,
    /// The tool is quarantined, like a changed one.
    Hold,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PinSettings {
    /// The action on changed definitions.
    pub action: PinAction,
    /// Actions for single servers, by name.
    pub servers: BTreeMap<String, PinAction>,
    pub new_tools: NewTools,
}

impl PinSettings {
    fn action_for(&self, server: &str) -> PinAction {
        self.servers.get(server).copied().unwrap_or(self.action)
    }
}

/// A list of a server to check.
#[derive(Debug, Clone)]
pub struct ListedItems {
    pub server: String,
    /// The protocol era of the list. A server may list different definitions to clients of different eras.
    pub era: &'static str,
    /// `tools`, `prompts` or `instructions`.
    pub kind: &'static str,
    /// Names and definitions; formatting does not matter.
    pub items: Vec<(String, failwell_rpc::Json)>,
}

/// The result of checking a list.
#[derive(Debug, Default)]
pub struct PinCheck {
    /// The indexes of quarantined items; empty if they pass.
    pub held: HashSet<usize>,
    /// Differing items are not quarantined, because the action is not `Hold`.
    pub passes: bool,
    /// Changes to report to the operator; each change is reported once.
    pub changes: Vec<QuarantinedItem>,
    /// The reason why pins cannot be stored; reported once.
    pub trouble: Option<Fault>,
}

#[derive(Debug)]
pub struct ToolPins {
    store: Arc<ConsentFile>,
    scope: Arc<str>,
    settings: ArcSwap<PinSettings>,
    /// Replaces a file that cannot be created. Its pins last for the lifetime of the process.
    memory: OnceLock<Arc<ConsentFile>>,
    /// Lists that this process has seen completely.
    known: Mutex<HashSet<(String, &'static str)>>,
    generation: AtomicI64,
}

impl ToolPins {
    pub fn new(store: &Arc<ConsentFile>, scope: &str, settings: PinSettings) -> Arc<ToolPins> {
        // A file created later begins at generation 0, so that an approval before the first check counts as a
        // change.
        let generation = store.exists().then(|| store.read(rows::generation).ok()).flatten();
        Arc::new(ToolPins {
            store: store.clone(),
            scope: scope.into(),
            settings: ArcSwap::from_pointee(settings),
            memory: OnceLock::new(),
            known: Mutex::default(),
            generation: AtomicI64::new(generation.unwrap_or(0)),
        })
    }

    /// Replaces the settings. Returns true if they differ.
    pub fn replace(&self, settings: PinSettings) -> bool {
        let differ = **self.settings.load() != settings;
        self.settings.store(Arc::new(settings));
        differ
    }

    /// Returns true if definitions of this server are checked.
    pub fn is_watched(&self, server: &str) -> bool {
        self.settings.load().action_for(server) != PinAction::Off
    }

    /// Returns true if this process has seen the complete list, so that a part of it can be checked.
    pub fn has_listed(&self, server: &str, kind: &'static str) -> bool {
        self.known.lock().contains(&(server.to_owned(), kind))
    }

    /// Checks a list: pins new items and quarantines changed ones. Runs on a blocking thread, because another
    /// process may lock the file.
    pub async fn check(self: &Arc<Self>, listing: ListedItems) -> Result<PinCheck, Fault> {
        let pins = self.clone();
        let looked = tokio::task::spawn_blocking(move || pins.check_now(&listing)).await;
        looked.or_fault(&reason::POLICY_UNDECIDED)?
    }

    fn check_now(&self, listing: &ListedItems) -> Result<PinCheck, Fault> {
        let settings = self.settings.load_full();
        let seen: Vec<ObservedItem> = listing.items.iter().map(|(name, item)| observe(name, item)).collect();
        let check = |store: &ConsentFile| {
            store.change(|transaction| {
                let place = rows::PinScope { scope: &self.scope, listing };
                rows::check(transaction, &place, &seen, settings.new_tools, now())
            })
        };
        let (found, trouble) = match self.memory.get() {
            Some(memory) => (check(memory)?, None),
            None => match check(&self.store) {
                Ok(found) => (found, None),
                // An existing file that cannot be read may hold pins, so the check fails. Without a file
                // there are no pins to miss.
                // Other nodes cannot be asked now, so the pins that were last known decide.
                Err(fault) if self.store.exists() => {
                    (self.preview(listing, &seen, &settings).ok_or(fault)?, None)
                }
                Err(fault) => (check(self.memory.get_or_init(ConsentFile::in_memory))?, Some(fault)),
            },
        };
        self.known.lock().insert((listing.server.clone(), listing.kind));
        let is_held = settings.action_for(&listing.server) == PinAction::Hold;
        let held = if is_held { found.differing } else { HashSet::new() };
        Ok(PinCheck { held, passes: !is_held, changes: found.changes, trouble })
    }

    fn preview(
        &self,
        listing: &ListedItems,
        seen: &[ObservedItem],
        settings: &PinSettings,
    ) -> Option<ListedDiff> {
        let place = rows::PinScope { scope: &self.scope, listing };
        self.store.preview(|transaction| rows::check(transaction, &place, seen, settings.new_tools, now()))
    }

    /// Returns true if pins were approved or deleted since the last call, or since the start.
    pub async fn has_changed(self: &Arc<Self>) -> bool {
        let pins = self.clone();
        let changed = tokio::task::spawn_blocking(move || {
            if pins.memory.get().is_some() || !pins.store.exists() {
                return false;
            }
            let Ok(now) = pins.store.read(rows::generation) else { return false };
            let before = pins.generation.swap(now, Ordering::Relaxed);
            let has_changed = before != now;
            if has_changed {
                // Pins may be deleted: lists must be seen completely again.
                pins.known.lock().clear();
            }
            has_changed
        });
        changed.await.unwrap_or(false)
    }
}

fn observe(name: &str, item: &failwell_rpc::Json) -> ObservedItem {
    let definition = item.raw().canonical();
    let hash = Sha256::digest(definition.as_bytes()).into();
    ObservedItem { name: name.to_owned(), hash, definition }
}

/// Pins for the operator: of one gateway, or of all gateways that share a folder.
#[derive(Debug, Clone)]
pub struct PinAdmin {
    store: Arc<ConsentFile>,
    scope: Option<String>,
}

impl PinAdmin {
    /// The pins of one gateway; `None` selects all.
    pub fn new(store: &Arc<ConsentFile>, scope: Option<String>) -> PinAdmin {
        PinAdmin { store: store.clone(), scope }
    }

    /// The pins of one server, or of all.
    pub fn all(&self, server: Option<&str>) -> Result<Vec<PinRecord>, Fault> {
        if !self.store.exists() {
            return Ok(Vec::new());
        }
        self.store.read(|connection| rows::all(connection, self.scope.as_deref(), server))
    }

    /// Approves exactly these definitions, even if the server has changed them again.
    pub fn approve(&self, pins: &[PinRecord], by: &str) -> Result<usize, Fault> {
        self.store.change(|transaction| {
            let mut done = 0;
            for pin in pins {
                done += rows::approve(transaction, pin, by, now())?;
            }
            rows::bump_generation(transaction)?;
            Ok(done)
        })
    }

    /// Deletes pins, so that the next definition seen is pinned. With `whole_server`, the server counts as
    /// never seen.
    pub fn forget(&self, pins: &[PinRecord], whole_server: Option<&str>) -> Result<(), Fault> {
        self.store.change(|transaction| {
            pins.iter().try_for_each(|pin| rows::forget(transaction, pin))?;
            if let Some(server) = whole_server {
                rows::forget_server(transaction, self.scope.as_deref(), server)?;
            }
            rows::bump_generation(transaction)
        })
    }
}

/// A line diff of two definitions. A definition that is too large to store has no lines.
pub fn describe_change(before: Option<&str>, after: Option<&str>) -> String {
    let lines = |definition: Option<&str>| match definition {
        Some(text) => readable(failwell_rpc::Raw::written(text)),
        None => Vec::new(),
    };
    let mut text = String::new();
    for line in diff(&lines(before), &lines(after)) {
        let _ = match line {
            DiffLine::Same(line) => writeln!(text, "  {line}"),
            DiffLine::Gone(line) => writeln!(text, "- {line}"),
            DiffLine::Come(line) => writeln!(text, "+ {line}"),
            DiffLine::LeftOut(count) => writeln!(text, "  … {count} more"),
        };
    }
    text
}
