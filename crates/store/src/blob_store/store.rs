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

use crate::blob_store::errors::{disk_fault, index_fault, task_fault};
use crate::blob_store::folder::{BlobFolder, make_folder};
use crate::blob_store::index::{BlobIndex, FILE, millis, now};
use crate::blob_store::quota::make_room;
use crate::blob_store::reader::FileReader;
use crate::blob_store::rows;
use crate::blob_store::settings::{BlobStoreSettings, LARGEST_METADATA};
use crate::blob_store::stored_file::StoreChange;
use crate::blob_store::stored_file::{FilePage, ListFilter, NewFile, StoredFile};
use crate::blob_store::sweep::{reconcile, run_sweeper, sweep_now};
use crate::blob_store::uri::BlobUri;
use crate::blob_store::writer::{FileWriter, PartialFile, UploadLoad, check_size};

/// Maximum number of changes that a subscriber may lag behind.
const LONGEST: usize = 256;

/// Default and maximum number of resources per page.
const PAGE: usize = 100;
const LARGEST_PAGE: usize = 1_000;

/// The resources of one folder. Cloning is cheap.
#[derive(Clone)]
pub struct BlobStore(Arc<LazyStore>);

struct LazyStore {
    root: PathBuf,
    shared: Arc<StoreContext>,
    /// Opened on first use. After a failure, the next use tries again.
    opened: Mutex<Option<Arc<OpenStore>>>,
}

/// State that is independent of whether the folder is open.
struct StoreContext {
    settings: RwLock<Arc<BlobStoreSettings>>,
    load: Arc<UploadLoad>,
    changes: broadcast::Sender<StoreChange>,
}

pub(crate) struct OpenStore {
    pub(crate) folder: BlobFolder,
    pub(crate) index: BlobIndex,
    shared: Arc<StoreContext>,
    needs_reconcile: AtomicBool,
    /// Dropping the sender ends the sweeper thread.
    #[expect(dead_code, reason = "held for its drop")]
    sweeper: SyncSender<()>,
}

impl BlobStore {
    /// Opens the store of a folder, creates the folder if missing, and removes leftovers of killed processes.
    pub fn open(folder: &Path, settings: BlobStoreSettings) -> Result<BlobStore, Fault> {
        let shelf = BlobStore::at(folder, settings);
        shelf.ready()?;
        Ok(shelf)
    }

    /// The store of a folder; the folder is opened or created on first use.
    pub fn at(folder: &Path, settings: BlobStoreSettings) -> BlobStore {
        let shared = StoreContext {
            settings: RwLock::new(Arc::new(settings)),
            load: Arc::default(),
            changes: broadcast::Sender::new(LONGEST),
        };
        let (root, shared) = (folder.to_owned(), Arc::new(shared));
        BlobStore(Arc::new(LazyStore { root, shared, opened: Mutex::default() }))
    }

    /// Opens and cleans up the folder now, unless it is open already. Blocks the thread.
    pub fn ready(&self) -> Result<(), Fault> {
        self.0.inner().map(drop)
    }

    pub fn settings(&self) -> Arc<BlobStoreSettings> {
        self.0.shared.settings()
    }

    /// Replaces the limits; existing resources stay. Returns true if the limits differ.
    pub fn set(&self, settings: BlobStoreSettings) -> bool {
        let mut held = self.0.shared.settings.write().unwrap_or_else(PoisonError::into_inner);
        let differs = **held != settings;
        *held = Arc::new(settings);
        differs
    }

    /// Subscribes to changes.
    pub fn changes(&self) -> broadcast::Receiver<StoreChange> {
        self.0.shared.changes.subscribe()
    }

    /// Stores bytes. Equal bytes with the same type and extension are one resource. It has the later of both
    /// expiry times, and the merged metadata.
    pub async fn put(&self, new: NewFile, bytes: Bytes) -> Result<StoredFile, Fault> {
        check_metadata(&new.metadata)?;
        self.run_blocking(move |inner| {
            let settings = inner.settings();
            check_size(bytes.len() as u64, &settings)?;
            let mut part = PartialFile::begin(&inner.folder, &inner.shared.load, &settings)?;
            part.write(&bytes, &settings)?;
            inner.keep(&new, &mut part)
        })
        .await
    }

    /// Begins an upload in pieces.
    pub async fn begin(&self, new: NewFile) -> Result<FileWriter, Fault> {
        check_metadata(&new.metadata)?;
        self.deposit(Some(new)).await
    }

    /// Begins an upload whose type is given at the end, by [`FileWriter::finish_as`].
    pub async fn receive(&self) -> Result<FileWriter, Fault> {
        self.deposit(None).await
    }

    async fn deposit(&self, new: Option<NewFile>) -> Result<FileWriter, Fault> {
        let part = self
            .run_blocking(|inner| PartialFile::begin(&inner.folder, &inner.shared.load, &inner.settings()))
            .await?;
        Ok(FileWriter::new(self.clone(), new, part))
    }

    pub(crate) async fn keep(&self, new: NewFile, mut part: PartialFile) -> Result<StoredFile, Fault> {
        self.run_blocking(move |inner| inner.keep(&new, &mut part)).await
    }

    /// The metadata of a resource.
    pub async fn describe(&self, uri: &str) -> Result<StoredFile, Fault> {
        let address = BlobUri::parse(uri)?;
        self.run_blocking(move |inner| inner.find(&address)).await
    }

    pub async fn read(&self, uri: &str) -> Result<(StoredFile, Bytes), Fault> {
        let address = BlobUri::parse(uri)?;
        self.run_blocking(move |inner| inner.fetch(&address)?.rest()).await
    }

    /// Opens a resource, to read all or a range of it in pieces.
    pub async fn fetch(&self, uri: &str) -> Result<FileReader, Fault> {
        let address = BlobUri::parse(uri)?;
        self.run_blocking(move |inner| inner.fetch(&address)).await
    }

    /// A page of the list, newest first.
    pub async fn list(&self, wanted: ListFilter) -> Result<FilePage, Fault> {
        let below = match &wanted.after {
            None => i64::MAX,
            Some(cursor) => cursor.parse().map_err(|_| Fault::new(&reason::MCP_BAD_CURSOR))?,
        };
        let most = wanted.most.unwrap_or(PAGE).clamp(1, LARGEST_PAGE);
        self.run_blocking(move |inner| {
            // One more than requested, to detect a further page.
            let look = |index: &_| rows::list(index, wanted.kind.as_ref(), below, most + 1);
            let mut found = inner.index.read(look)?;
            let more = found.len() > most;
            found.truncate(most);
            let next = found.last().filter(|_| more).map(|(number, _)| number.to_string());
            Ok(FilePage { items: found.into_iter().map(|(_, kept)| kept).collect(), next })
        })
        .await
    }

    /// Changes metadata member by member; `null` removes a member (RFC 7396, at the first level).
    pub async fn edit(&self, uri: &str, changes: Map<String, Value>) -> Result<StoredFile, Fault> {
        let address = BlobUri::parse(uri)?;
        self.run_blocking(move |inner| {
            let edited = inner.index.change(|transaction| {
                let before = rows::find(transaction, &address).map_err(index_fault)?;
                let StoredFile { mut metadata, expires, .. } = before.ok_or_else(|| address.unknown())?;
                merge(&mut metadata, changes);
                check_metadata(&metadata)?;
                rows::update(transaction, &address, millis(expires), &metadata).map_err(index_fault)?;
                rows::find(transaction, &address).map_err(index_fault)?.ok_or_else(|| address.unknown())
            })?;
            inner.announce(StoreChange::Updated(edited.uri.clone()));
            Ok(edited)
        })
        .await
    }

    pub async fn remove(&self, uri: &str) -> Result<StoredFile, Fault> {
        let address = BlobUri::parse(uri)?;
        self.run_blocking(move |inner| {
            let gone = inner.index.change(|transaction| {
                let found = rows::find(transaction, &address).map_err(index_fault)?;
                let found = found.ok_or_else(|| address.unknown())?;
                inner.folder.remove(&address)?;
                rows::remove(transaction, &address).map_err(index_fault)?;
                Ok(found)
            })?;
            inner.announce(StoreChange::Removed(gone.uri.clone()));
            Ok(gone)
        })
        .await
    }

    /// The number of bytes and resources, including expired ones that are not deleted yet.
    pub async fn total(&self) -> Result<(u64, u64), Fault> {
        let total = self.run_blocking(|inner| inner.index.read(rows::total)).await?;
        Ok((total.bytes, total.items))
    }

    /// Deletes expired resources now instead of at the next interval.
    pub async fn sweep(&self) -> Result<(), Fault> {
        self.run_blocking(sweep_now).await
    }

    /// Runs on a blocking thread, because the disk and other processes can be slow.
    async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&OpenStore) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let outer = self.0.clone();
        let done = spawn_blocking(move || {
            let done = work(&*outer.inner()?);
            if done.as_ref().is_err_and(|fault| fault.kind() == Kind::Unavailable) {
                outer.close_if_removed();
            }
            done
        });
        done.await.map_err(task_fault)?
    }
}

impl LazyStore {
    fn inner(&self) -> Result<Arc<OpenStore>, Fault> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(inner) = &*opened {
            return Ok(inner.clone());
        }
        let inner = OpenStore::open(&self.root, &self.shared)
            .map_err(|fault| fault.note("folder", self.root.display().to_string()))?;
        *opened = Some(inner.clone());
        Ok(inner)
    }
}

impl LazyStore {
    /// If the folder was deleted, the next use creates it again.
    fn close_if_removed(&self) {
        if !self.root.join(FILE).exists() {
            *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}

impl StoreContext {
    fn settings(&self) -> Arc<BlobStoreSettings> {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl OpenStore {
    fn open(root: &Path, shared: &Arc<StoreContext>) -> Result<Arc<OpenStore>, Fault> {
        make_folder(root).map_err(disk_fault)?;
        let index = BlobIndex::open(root)?;
        let folder = index.change(|transaction| {
            let folder = BlobFolder::make(root)?;
            reconcile(transaction, &folder)?;
            Ok(folder)
        })?;
        let (sweeper, ended) = sync_channel(1);
        let needs_reconcile = AtomicBool::new(false);
        let inner = Arc::new(OpenStore { folder, index, shared: shared.clone(), needs_reconcile, sweeper });
        let (weak, version) = (Arc::downgrade(&inner), inner.index.version()?);
        let named = std::thread::Builder::new().name("shelf".to_owned());
        named.spawn(move || run_sweeper(&weak, &ended, version)).map_err(disk_fault)?;
        Ok(inner)
    }

    pub(crate) fn settings(&self) -> Arc<BlobStoreSettings> {
        self.shared.settings()
    }

    pub(crate) fn announce(&self, change: StoreChange) {
        // An error means that there is no subscriber.
        let _ = self.shared.changes.send(change);
    }

    /// Returns true if leftovers were reported since the last call.
    pub(crate) fn take_needs_reconcile(&self) -> bool {
        self.needs_reconcile.swap(false, Ordering::Relaxed)
    }

    fn find(&self, address: &BlobUri) -> Result<StoredFile, Fault> {
        self.index.read(|index| rows::find(index, address))?.ok_or_else(|| address.unknown())
    }

    fn fetch(&self, address: &BlobUri) -> Result<FileReader, Fault> {
        let kept = self.find(address)?;
        let file = self.folder.open(address)?;
        let whole = file.filter(|file| file.metadata().is_ok_and(|found| found.len() == kept.size));
        // The file was deleted or changed by another program: treat it as missing.
        let file = whole.ok_or_else(|| {
            self.needs_reconcile.store(true, Ordering::Relaxed);
            address.unknown()
        })?;
        Ok(FileReader::new(kept, file))
    }

    /// Renames the upload to its final name and inserts its row.
    fn keep(&self, new: &NewFile, part: &mut PartialFile) -> Result<StoredFile, Fault> {
        let (digest, size) = part.complete()?;
        let address = BlobUri { kind: new.kind.clone(), digest, extension: new.extension.clone() };
        let settings = self.settings();
        let done =
            self.index.change(|transaction| self.place(transaction, new, (&address, size), part, &settings));
        // A disk failure between the two steps can leave a file without a row.
        let (kept, changes) = done.inspect_err(|fault| {
            if fault.kind() == Kind::Unavailable {
                self.needs_reconcile.store(true, Ordering::Relaxed);
            }
        })?;
        changes.into_iter().for_each(|change| self.announce(change));
        Ok(kept)
    }

    fn place(
        &self,
        transaction: &Transaction<'_>,
        new: &NewFile,
        (address, size): (&BlobUri, u64),
        part: &PartialFile,
        settings: &BlobStoreSettings,
    ) -> Result<(StoredFile, Vec<StoreChange>), Fault> {
        let before = rows::find_any(transaction, address).map_err(index_fault)?;
        let mut changes = Vec::new();
        if before.is_none() {
            let gone = make_room(transaction, &self.folder, size, settings)?;
            changes.extend(gone.into_iter().map(StoreChange::Removed));
        }
        // Overwrites an existing file, which has the same bytes unless another program changed it.
        self.folder.place(part.path(), address)?;
        let ttl = new.ttl.unwrap_or(settings.ttl).min(settings.longest_ttl);
        let expires = now().saturating_add(whole_millis(ttl));
        match before {
            Some((kept, until)) if until > now() => {
                let mut metadata = kept.metadata;
                merge(&mut metadata, new.metadata.clone());
                check_metadata(&metadata)?;
                rows::update(transaction, address, expires.max(until), &metadata).map_err(index_fault)?;
                changes.push(StoreChange::Updated(kept.uri));
            }
            earlier => {
                if earlier.is_some() {
                    rows::remove(transaction, address).map_err(index_fault)?;
                }
                rows::insert(transaction, address, size, expires, &new.metadata).map_err(index_fault)?;
                changes.push(StoreChange::Added(address.to_string()));
            }
        }
        let kept = rows::find_any(transaction, address).map_err(index_fault)?;
        Ok((kept.map(|(kept, _)| kept).ok_or_else(|| address.unknown())?, changes))
    }
}

impl fmt::Debug for BlobStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlobStore").field("settings", &self.settings()).finish_non_exhaustive()
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
