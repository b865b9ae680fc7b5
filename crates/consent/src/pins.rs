//! Definitions of tools as they were first seen, or last approved.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arc_swap::ArcSwap;
use failwell_fault::{Fault, OrFault, reason};
use sha2::{Digest, Sha256};

use crate::compare::{Compared, compare};
use crate::pin_rows::{self, Held, Pin, Seen};
use crate::readable::readable;
use crate::store::{Store, now};

/// What is done with a tool whose definition is not the one that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PinAction {
    /// It is in no list and cannot be called until somebody approves it.
    #[default]
    Hold,
    /// It passes; the operator is told.
    Warn,
    /// Nobody looks.
    Off,
}

/// What is done with a tool that a known server has not had before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NewTools {
    /// It is known from now on.
    #[default]
    Allow,
    /// As with one that changed.
    Hold,
}

/// How definitions are watched.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PinSettings {
    /// What is done with changes.
    pub action: PinAction,
    /// The same for single servers.
    pub servers: BTreeMap<String, PinAction>,
    /// What is done with what is new.
    pub new_tools: NewTools,
}

impl PinSettings {
    fn of(&self, server: &str) -> PinAction {
        self.servers.get(server).copied().unwrap_or(self.action)
    }
}

/// A list of a server, to be looked at.
#[derive(Debug, Clone)]
pub struct Listing {
    /// Whose.
    pub server: String,
    /// Which of its faces, where it has several: what it says to clients of one era may differ from what it says to others.
    pub face: &'static str,
    /// `tools` or `prompts`.
    pub kind: &'static str,
    /// Names, and definitions however they are written.
    pub items: Vec<(String, failwell_rpc::Json)>,
}

/// What came of looking at a list.
#[derive(Debug, Default)]
pub struct Looked {
    /// Which items are held, by their place in the list; empty when none is.
    pub held: HashSet<usize>,
    /// Whether they pass all the same.
    pub passes: bool,
    /// What was not seen before, for the operator to hear of: once for each change.
    pub news: Vec<Held>,
    /// Why pins cannot be kept; told once.
    pub trouble: Option<Fault>,
}

/// The pins of one gateway.
#[derive(Debug)]
pub struct Pins {
    store: Arc<Store>,
    scope: Arc<str>,
    settings: ArcSwap<PinSettings>,
    /// In place of a file that cannot be made: then pins last as long as the program.
    memory: OnceLock<Arc<Store>>,
    /// Lists that have been seen whole.
    known: Mutex<HashSet<(String, &'static str)>>,
    generation: AtomicI64,
}

impl Pins {
    /// The pins of a gateway in this file.
    pub fn of(store: &Arc<Store>, scope: &str, settings: PinSettings) -> Arc<Pins> {
        // A file that is made later begins at nothing. What is approved before anybody looked is news too.
        let generation = store.exists().then(|| store.read(pin_rows::generation).ok()).flatten();
        Arc::new(Pins {
            store: store.clone(),
            scope: scope.into(),
            settings: ArcSwap::from_pointee(settings),
            memory: OnceLock::new(),
            known: Mutex::default(),
            generation: AtomicI64::new(generation.unwrap_or(0)),
        })
    }

    /// Other settings from now on, whether they differ or not.
    pub fn replace(&self, settings: PinSettings) -> bool {
        let differ = **self.settings.load() != settings;
        self.settings.store(Arc::new(settings));
        differ
    }

    /// Whether anybody looks at what a server says.
    pub fn watch(&self, server: &str) -> bool {
        self.settings.load().of(server) != PinAction::Off
    }

    /// Whether a list of a server was seen whole by this program, so that a part of it can be judged.
    pub fn knows(&self, server: &str, kind: &'static str) -> bool {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).contains(&(server.to_owned(), kind))
    }

    /// Looks at a list: what is new is written down, what changed is held. Beside the requests, since another process may
    /// hold the file for a while.
    pub async fn look(self: &Arc<Self>, listing: Listing) -> Result<Looked, Fault> {
        let pins = self.clone();
        let looked = tokio::task::spawn_blocking(move || pins.look_now(&listing)).await;
        looked.or_fault(&reason::POLICY_UNDECIDED)?
    }

    fn look_now(&self, listing: &Listing) -> Result<Looked, Fault> {
        let settings = self.settings.load_full();
        let seen: Vec<Seen> = listing.items.iter().map(|(name, item)| seen(name, item)).collect();
        let look = |store: &Store| {
            store.change(|transaction| {
                let place = pin_rows::Place { scope: &self.scope, listing };
                pin_rows::look(transaction, &place, &seen, settings.new_tools, now())
            })
        };
        let (found, trouble) = match self.memory.get() {
            Some(memory) => (look(memory)?, None),
            None => match look(&self.store) {
                Ok(found) => (found, None),
                // A file that is there and cannot be read may know better. Where none was ever made, there is
                // nothing to know better.
                Err(fault) if self.store.exists() => return Err(fault),
                Err(fault) => (look(self.memory.get_or_init(Store::in_memory))?, Some(fault)),
            },
        };
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert((listing.server.clone(), listing.kind));
        let is_held = settings.of(&listing.server) == PinAction::Hold;
        let held = if is_held { found.differing } else { HashSet::new() };
        Ok(Looked { held, passes: !is_held, news: found.news, trouble })
    }

    /// Whether somebody approved or forgot something since the last look, or since the start.
    pub async fn has_news(self: &Arc<Self>) -> bool {
        let pins = self.clone();
        let changed = tokio::task::spawn_blocking(move || {
            if pins.memory.get().is_some() || !pins.store.exists() {
                return false;
            }
            let Ok(now) = pins.store.read(pin_rows::generation) else { return false };
            let before = pins.generation.swap(now, Ordering::Relaxed);
            let has_changed = before != now;
            if has_changed {
                // Something may be forgotten: what comes in parts is seen whole again.
                pins.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
            }
            has_changed
        });
        changed.await.unwrap_or(false)
    }
}

fn seen(name: &str, item: &failwell_rpc::Json) -> Seen {
    let definition = item.raw().canonical();
    let hash = Sha256::digest(definition.as_bytes()).into();
    Seen { name: name.to_owned(), hash, definition }
}

/// Pins as the operator sees them: of one gateway, or of all that share a folder.
#[derive(Debug, Clone)]
pub struct PinBook {
    store: Arc<Store>,
    scope: Option<String>,
}

impl PinBook {
    /// The pins of one gateway; `None` for all.
    pub fn of(store: &Arc<Store>, scope: Option<String>) -> PinBook {
        PinBook { store: store.clone(), scope }
    }

    /// The pins of a server, or of all.
    pub fn all(&self, server: Option<&str>) -> Result<Vec<Pin>, Fault> {
        if !self.store.exists() {
            return Ok(Vec::new());
        }
        self.store.read(|connection| pin_rows::all(connection, self.scope.as_deref(), server))
    }

    /// From now on these definitions are the known ones: exactly those, not what they may have become meanwhile.
    pub fn approve(&self, pins: &[Pin], by: &str) -> Result<usize, Fault> {
        self.store.change(|transaction| {
            let mut done = 0;
            for pin in pins {
                done += pin_rows::approve(transaction, pin, by, now())?;
            }
            pin_rows::tell(transaction)?;
            Ok(done)
        })
    }

    /// Forgets pins: what is seen next is what is known. With all pins of a server it is as one never seen.
    pub fn forget(&self, pins: &[Pin], whole_server: Option<&str>) -> Result<(), Fault> {
        self.store.change(|transaction| {
            pins.iter().try_for_each(|pin| pin_rows::forget(transaction, pin))?;
            if let Some(server) = whole_server {
                pin_rows::forget_server(transaction, self.scope.as_deref(), server)?;
            }
            pin_rows::tell(transaction)
        })
    }
}

/// How one definition became another, line by line. What is too large to be kept has no lines.
pub fn changes(before: Option<&str>, after: Option<&str>) -> String {
    let lines = |definition: Option<&str>| match definition {
        Some(text) => readable(failwell_rpc::Raw::written(text)),
        None => Vec::new(),
    };
    let mut text = String::new();
    for line in compare(&lines(before), &lines(after)) {
        let _ = match line {
            Compared::Same(line) => writeln!(text, "  {line}"),
            Compared::Gone(line) => writeln!(text, "- {line}"),
            Compared::Come(line) => writeln!(text, "+ {line}"),
            Compared::LeftOut(count) => writeln!(text, "  … {count} more"),
        };
    }
    text
}
