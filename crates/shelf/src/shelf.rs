//! The shelf itself.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use failwell_fault::{Fault, Kind, reason};
use rusqlite::Transaction;
use serde_json::{Map, Value};
use tokio::sync::broadcast;
use tokio::task::spawn_blocking;

use crate::address::Address;
use crate::changes::Change;
use crate::deposit::{Deposit, Load, Part, check_size};
use crate::fetch::Fetched;
use crate::folder::{Folder, make_folder};
use crate::index::{FILE, Index, millis, now};
use crate::kept::{Kept, New, Page, Wanted};
use crate::quota::make_room;
use crate::rows;
use crate::settings::{LARGEST_METADATA, ShelfSettings};
use crate::sweep::{follow, reconcile, sweep_now};
use crate::trouble::{of_disk, of_index, of_task};

/// How many changes a listener may be behind.
const LONGEST: usize = 256;

/// How many resources one page has, and may have.
const PAGE: usize = 100;
const LARGEST_PAGE: usize = 1_000;

/// Resources of one folder. Cheap to clone.
#[derive(Clone)]
pub struct Shelf(Arc<Outer>);

struct Outer {
    root: PathBuf,
    shared: Arc<Shared>,
    /// The folder, once it was needed. What could not be opened is tried again the next time.
    opened: Mutex<Option<Arc<Inner>>>,
}

/// What holds whether or not the folder is open.
struct Shared {
    settings: RwLock<Arc<ShelfSettings>>,
    load: Arc<Load>,
    changes: broadcast::Sender<Change>,
}

/// The open folder.
pub(crate) struct Inner {
    pub(crate) folder: Folder,
    pub(crate) index: Index,
    shared: Arc<Shared>,
    untidy: AtomicBool,
    /// Its end is what ends the sweeper.
    #[expect(dead_code, reason = "held for its drop")]
    sweeper: SyncSender<()>,
}

impl Shelf {
    /// Opens the shelf of a folder, which is made if need be, and clears up what a program that was killed left there.
    pub fn open(folder: &Path, settings: ShelfSettings) -> Result<Shelf, Fault> {
        let shelf = Shelf::at(folder, settings);
        shelf.ready()?;
        Ok(shelf)
    }

    /// The shelf of a folder that is opened, and made, when it is first needed.
    pub fn at(folder: &Path, settings: ShelfSettings) -> Shelf {
        let shared = Shared {
            settings: RwLock::new(Arc::new(settings)),
            load: Arc::default(),
            changes: broadcast::Sender::new(LONGEST),
        };
        let (root, shared) = (folder.to_owned(), Arc::new(shared));
        Shelf(Arc::new(Outer { root, shared, opened: Mutex::default() }))
    }

    /// Opens and clears up the folder now, unless that was done. It may take a while.
    pub fn ready(&self) -> Result<(), Fault> {
        self.0.inner().map(drop)
    }

    /// The bounds that hold.
    pub fn settings(&self) -> Arc<ShelfSettings> {
        self.0.shared.settings()
    }

    /// Other bounds from now on; what is kept stays. Says whether they are others.
    pub fn set(&self, settings: ShelfSettings) -> bool {
        let mut held = self.0.shared.settings.write().unwrap_or_else(PoisonError::into_inner);
        let differs = **held != settings;
        *held = Arc::new(settings);
        differs
    }

    /// Hears of changes from now on.
    pub fn changes(&self) -> broadcast::Receiver<Change> {
        self.0.shared.changes.subscribe()
    }

    /// Keeps bytes. The same bytes under the same type and ending are one resource, which then lives as long as the
    /// longer of both times says, with the metadata of both.
    pub async fn put(&self, new: New, bytes: Bytes) -> Result<Kept, Fault> {
        check_metadata(&new.metadata)?;
        self.aside(move |inner| {
            let settings = inner.settings();
            check_size(bytes.len() as u64, &settings)?;
            let mut part = Part::begin(&inner.folder, &inner.shared.load, &settings)?;
            part.write(&bytes, &settings)?;
            inner.keep(&new, &mut part)
        })
        .await
    }

    /// Begins to take a resource piece by piece.
    pub async fn begin(&self, new: New) -> Result<Deposit, Fault> {
        check_metadata(&new.metadata)?;
        self.deposit(Some(new)).await
    }

    /// The same where what it is comes after it; [`Deposit::finish_as`] says it.
    pub async fn receive(&self) -> Result<Deposit, Fault> {
        self.deposit(None).await
    }

    async fn deposit(&self, new: Option<New>) -> Result<Deposit, Fault> {
        let part =
            self.aside(|inner| Part::begin(&inner.folder, &inner.shared.load, &inner.settings())).await?;
        Ok(Deposit::new(self.clone(), new, part))
    }

    pub(crate) async fn keep(&self, new: New, mut part: Part) -> Result<Kept, Fault> {
        self.aside(move |inner| inner.keep(&new, &mut part)).await
    }

    /// What is known of a resource.
    pub async fn describe(&self, uri: &str) -> Result<Kept, Fault> {
        let address = Address::parse(uri)?;
        self.aside(move |inner| inner.find(&address)).await
    }

    /// A resource and all its bytes.
    pub async fn read(&self, uri: &str) -> Result<(Kept, Bytes), Fault> {
        let address = Address::parse(uri)?;
        self.aside(move |inner| inner.fetch(&address)?.rest()).await
    }

    /// Opens a resource, to be given out piece by piece, whole or in part.
    pub async fn fetch(&self, uri: &str) -> Result<Fetched, Fault> {
        let address = Address::parse(uri)?;
        self.aside(move |inner| inner.fetch(&address)).await
    }

    /// A page of the list, the latest first.
    pub async fn list(&self, wanted: Wanted) -> Result<Page, Fault> {
        let below = match &wanted.after {
            None => i64::MAX,
            Some(cursor) => cursor.parse().map_err(|_| Fault::new(&reason::MCP_BAD_CURSOR))?,
        };
        let most = wanted.most.unwrap_or(PAGE).clamp(1, LARGEST_PAGE);
        self.aside(move |inner| {
            // One more than asked for tells whether there is a next page.
            let look = |index: &_| rows::list(index, wanted.kind.as_ref(), below, most + 1);
            let mut found = inner.index.look(look)?;
            let more = found.len() > most;
            found.truncate(most);
            let next = found.last().filter(|_| more).map(|(number, _)| number.to_string());
            Ok(Page { items: found.into_iter().map(|(_, kept)| kept).collect(), next })
        })
        .await
    }

    /// Changes metadata member by member; a `null` takes a member away (RFC 7396, at the first level).
    pub async fn edit(&self, uri: &str, changes: Map<String, Value>) -> Result<Kept, Fault> {
        let address = Address::parse(uri)?;
        self.aside(move |inner| {
            let edited = inner.index.change(|transaction| {
                let before = rows::find(transaction, &address).map_err(of_index)?;
                let Kept { mut metadata, expires, .. } = before.ok_or_else(|| address.unknown())?;
                merge(&mut metadata, changes);
                check_metadata(&metadata)?;
                rows::update(transaction, &address, millis(expires), &metadata).map_err(of_index)?;
                rows::find(transaction, &address).map_err(of_index)?.ok_or_else(|| address.unknown())
            })?;
            inner.announce(Change::Updated(edited.uri.clone()));
            Ok(edited)
        })
        .await
    }

    /// Removes a resource.
    pub async fn remove(&self, uri: &str) -> Result<Kept, Fault> {
        let address = Address::parse(uri)?;
        self.aside(move |inner| {
            let gone = inner.index.change(|transaction| {
                let found = rows::find(transaction, &address).map_err(of_index)?;
                let found = found.ok_or_else(|| address.unknown())?;
                inner.folder.remove(&address)?;
                rows::remove(transaction, &address).map_err(of_index)?;
                Ok(found)
            })?;
            inner.announce(Change::Removed(gone.uri.clone()));
            Ok(gone)
        })
        .await
    }

    /// How many bytes and how many resources there are, expired ones that were not removed yet included.
    pub async fn total(&self) -> Result<(u64, u64), Fault> {
        let total = self.aside(|inner| inner.index.look(rows::total)).await?;
        Ok((total.bytes, total.items))
    }

    /// Removes what has expired now, rather than in a while.
    pub async fn sweep(&self) -> Result<(), Fault> {
        self.aside(sweep_now).await
    }

    /// Beside the requests: disks and other programs may take a while.
    async fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let outer = self.0.clone();
        let done = spawn_blocking(move || {
            let done = work(&*outer.inner()?);
            if done.as_ref().is_err_and(|fault| fault.kind() == Kind::Unavailable) {
                outer.forget_what_is_gone();
            }
            done
        });
        done.await.map_err(of_task)?
    }
}

impl Outer {
    fn inner(&self) -> Result<Arc<Inner>, Fault> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(inner) = &*opened {
            return Ok(inner.clone());
        }
        let inner = Inner::open(&self.root, &self.shared)
            .map_err(|fault| fault.note("folder", self.root.display().to_string()))?;
        *opened = Some(inner.clone());
        Ok(inner)
    }
}

impl Outer {
    /// A folder that somebody took away is made anew the next time.
    fn forget_what_is_gone(&self) {
        if !self.root.join(FILE).exists() {
            *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}

impl Shared {
    fn settings(&self) -> Arc<ShelfSettings> {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Inner {
    fn open(root: &Path, shared: &Arc<Shared>) -> Result<Arc<Inner>, Fault> {
        make_folder(root).map_err(of_disk)?;
        let index = Index::open(root)?;
        let folder = index.change(|transaction| {
            let folder = Folder::make(root)?;
            reconcile(transaction, &folder)?;
            Ok(folder)
        })?;
        let (sweeper, ended) = sync_channel(1);
        let untidy = AtomicBool::new(false);
        let inner = Arc::new(Inner { folder, index, shared: shared.clone(), untidy, sweeper });
        let (weak, version) = (Arc::downgrade(&inner), inner.index.version()?);
        let named = std::thread::Builder::new().name("shelf".to_owned());
        named.spawn(move || follow(&weak, &ended, version)).map_err(of_disk)?;
        Ok(inner)
    }

    pub(crate) fn settings(&self) -> Arc<ShelfSettings> {
        self.shared.settings()
    }

    pub(crate) fn announce(&self, change: Change) {
        // An error means that nobody listens.
        let _ = self.shared.changes.send(change);
    }

    /// Whether something was left behind since this was last asked.
    pub(crate) fn was_untidy(&self) -> bool {
        self.untidy.swap(false, Ordering::Relaxed)
    }

    fn find(&self, address: &Address) -> Result<Kept, Fault> {
        self.index.look(|index| rows::find(index, address))?.ok_or_else(|| address.unknown())
    }

    fn fetch(&self, address: &Address) -> Result<Fetched, Fault> {
        let kept = self.find(address)?;
        let file = self.folder.open(address)?;
        let whole = file.filter(|file| file.metadata().is_ok_and(|found| found.len() == kept.size));
        // Somebody took it away, or into it, behind our back: it is as good as gone.
        let file = whole.ok_or_else(|| {
            self.untidy.store(true, Ordering::Relaxed);
            address.unknown()
        })?;
        Ok(Fetched::new(kept, file))
    }

    /// Gives what was written its name and its row.
    fn keep(&self, new: &New, part: &mut Part) -> Result<Kept, Fault> {
        let (digest, size) = part.complete()?;
        let address = Address { kind: new.kind.clone(), digest, extension: new.extension.clone() };
        let settings = self.settings();
        let done =
            self.index.change(|transaction| self.place(transaction, new, (&address, size), part, &settings));
        // Where the disk failed half-way, a file may be left that no row speaks of.
        let (kept, changes) = done.inspect_err(|fault| {
            if fault.kind() == Kind::Unavailable {
                self.untidy.store(true, Ordering::Relaxed);
            }
        })?;
        changes.into_iter().for_each(|change| self.announce(change));
        Ok(kept)
    }

    fn place(
        &self,
        transaction: &Transaction<'_>,
        new: &New,
        (address, size): (&Address, u64),
        part: &Part,
        settings: &ShelfSettings,
    ) -> Result<(Kept, Vec<Change>), Fault> {
        let before = rows::find_any(transaction, address).map_err(of_index)?;
        let mut changes = Vec::new();
        if before.is_none() {
            let gone = make_room(transaction, &self.folder, size, settings)?;
            changes.extend(gone.into_iter().map(Change::Removed));
        }
        // Over what may be there already: the same bytes, or what somebody did to them.
        self.folder.place(part.path(), address)?;
        let ttl = new.ttl.unwrap_or(settings.ttl).min(settings.longest_ttl);
        let expires = now().saturating_add(whole_millis(ttl));
        match before {
            Some((kept, until)) if until > now() => {
                let mut metadata = kept.metadata;
                merge(&mut metadata, new.metadata.clone());
                check_metadata(&metadata)?;
                rows::update(transaction, address, expires.max(until), &metadata).map_err(of_index)?;
                changes.push(Change::Updated(kept.uri));
            }
            earlier => {
                if earlier.is_some() {
                    rows::remove(transaction, address).map_err(of_index)?;
                }
                rows::insert(transaction, address, size, expires, &new.metadata).map_err(of_index)?;
                changes.push(Change::Added(address.to_string()));
            }
        }
        let kept = rows::find_any(transaction, address).map_err(of_index)?;
        Ok((kept.map(|(kept, _)| kept).ok_or_else(|| address.unknown())?, changes))
    }
}

impl fmt::Debug for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shelf").field("settings", &self.settings()).finish_non_exhaustive()
    }
}

fn merge(metadata: &mut Map<String, Value>, changes: Map<String, Value>) {
    for (name, value) in changes {
        match value {
            Value::Null => drop(metadata.remove(&name)),
            value => drop(metadata.insert(name, value)),
        }
    }
}

pub(crate) fn check_metadata(metadata: &Map<String, Value>) -> Result<(), Fault> {
    if metadata.is_empty() {
        return Ok(());
    }
    let size = Value::Object(metadata.clone()).to_string().len();
    if size <= LARGEST_METADATA {
        return Ok(());
    }
    Err(Fault::new(&reason::SHELF_METADATA).fact("size", size).fact("limit", LARGEST_METADATA))
}

fn whole_millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
