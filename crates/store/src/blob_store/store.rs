use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use bytes::Bytes;
use failwell_fault::{Fault, Kind, reason};
use parking_lot::{Mutex, RwLock};
use rusqlite::Transaction;
use serde_json::{Map, Value};
use tokio::sync::broadcast;
use tokio::task::spawn_blocking;

use crate::blob_store::accessible_files::AccessibleFiles;
use crate::blob_store::errors::{disk_fault, index_fault, task_fault};
use crate::blob_store::folder::{BlobFolder, make_folder};
use crate::blob_store::index::{BlobIndex, FILE, now};
use crate::blob_store::quota::make_room;
use crate::blob_store::reader::FileReader;
use crate::blob_store::rows::{self, ResourceRow};
use crate::blob_store::settings::{BlobStoreSettings, LARGEST_METADATA};
use crate::blob_store::stored_file::StoreChange;
use crate::blob_store::stored_file::{FileAccess, FilePage, ListFilter, NewFile, StoredFile};
use crate::blob_store::sweep::{reconcile, run_sweeper, sweep_now};
use crate::blob_store::uri::BlobUri;
use crate::blob_store::writer::{FileWriter, PartialFile, UploadLoad, check_size};

/// Maximum number of changes that a subscriber may lag behind.
const LONGEST: usize = 256;

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
        let blobs = BlobStore::at(folder, settings);
        blobs.ready()?;
        Ok(blobs)
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

    /// Closes the index, so that it is one file. The next use opens it again.
    pub fn close(&self) {
        drop(self.0.opened.lock().take());
    }

    pub fn settings(&self) -> Arc<BlobStoreSettings> {
        self.0.shared.settings()
    }

    /// Replaces the limits; existing resources stay. Returns true if the limits differ.
    pub fn set(&self, settings: BlobStoreSettings) -> bool {
        let mut held = self.0.shared.settings.write();
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

    /// The resources of all owners.
    fn everything(&self) -> AccessibleFiles {
        self.accessible(FileAccess::all(""))
    }

    /// The resources that a request may use.
    pub fn accessible(&self, access: FileAccess) -> AccessibleFiles {
        AccessibleFiles::new(self.clone(), access)
    }

    /// The metadata of a resource of any owner.
    pub async fn describe(&self, uri: &str) -> Result<StoredFile, Fault> {
        self.everything().describe(uri).await
    }

    pub async fn read(&self, uri: &str) -> Result<(StoredFile, Bytes), Fault> {
        self.everything().read(uri).await
    }

    /// Opens a resource of any owner, to read all or a range of it in pieces.
    pub async fn fetch(&self, uri: &str) -> Result<FileReader, Fault> {
        self.everything().fetch(uri).await
    }

    /// A page of the list of all resources, newest first.
    pub async fn list(&self, wanted: ListFilter) -> Result<FilePage, Fault> {
        self.everything().list(wanted).await
    }

    /// Changes metadata member by member; `null` removes a member (RFC 7396, at the first level).
    pub async fn edit(&self, uri: &str, changes: Map<String, Value>) -> Result<StoredFile, Fault> {
        self.everything().edit(uri, changes).await
    }

    pub async fn remove(&self, uri: &str) -> Result<StoredFile, Fault> {
        self.everything().remove(uri).await
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
    pub(crate) async fn run_blocking<T: Send + 'static>(
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
        let mut opened = self.opened.lock();
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
            *self.opened.lock() = None;
        }
    }
}

impl StoreContext {
    fn settings(&self) -> Arc<BlobStoreSettings> {
        self.settings.read().clone()
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

    pub(crate) fn find(&self, address: &BlobUri, access: &FileAccess) -> Result<StoredFile, Fault> {
        self.index.read(|index| rows::find(index, address, access))?.ok_or_else(|| address.unknown())
    }

    pub(crate) fn fetch(&self, address: &BlobUri, access: &FileAccess) -> Result<FileReader, Fault> {
        let stored = self.find(address, access)?;
        let file = self.folder.open(address)?;
        let whole = file.filter(|file| file.metadata().is_ok_and(|found| found.len() == stored.size));
        // The file was deleted or changed by another program: treat it as missing.
        let file = whole.ok_or_else(|| {
            self.needs_reconcile.store(true, Ordering::Relaxed);
            address.unknown()
        })?;
        Ok(FileReader::new(stored, file))
    }

    /// Renames the upload to its final name and inserts its row.
    fn keep(&self, new: &NewFile, part: &mut PartialFile) -> Result<StoredFile, Fault> {
        let (digest, size) = part.complete()?;
        let address = BlobUri { kind: new.kind.clone(), digest, extension: new.extension.clone() };
        let settings = self.settings();
        let done =
            self.index.change(|transaction| self.place(transaction, new, (&address, size), part, &settings));
        // A disk failure between the two steps can leave a file without a row.
        let (stored, changes) = done.inspect_err(|fault| {
            if fault.kind() == Kind::Unavailable {
                self.needs_reconcile.store(true, Ordering::Relaxed);
            }
        })?;
        changes.into_iter().for_each(|change| self.announce(change));
        Ok(stored)
    }

    fn place(
        &self,
        transaction: &Transaction<'_>,
        new: &NewFile,
        (address, size): (&BlobUri, u64),
        part: &PartialFile,
        settings: &BlobStoreSettings,
    ) -> Result<(StoredFile, Vec<StoreChange>), Fault> {
        let owner = new.owner.as_str();
        let before = rows::find_any(transaction, address, owner).map_err(index_fault)?;
        let mut changes = Vec::new();
        if before.is_none() {
            let gone = make_room(transaction, &self.folder, (owner, size), settings)?;
            changes.extend(gone.into_iter().map(|(uri, owner)| StoreChange::Removed(uri, owner)));
        }
        // Overwrites an existing file, which has the same bytes unless another program changed it.
        self.folder.place(part.path(), address)?;
        let ttl = new.ttl.unwrap_or(settings.ttl).min(settings.longest_ttl);
        let expires = now().saturating_add(whole_millis(ttl));
        match before {
            Some((stored, until)) if until > now() => {
                let mut metadata = stored.metadata;
                merge(&mut metadata, new.metadata.clone());
                check_metadata(&metadata)?;
                let expires = expires.max(until);
                let row = ResourceRow { address, owner, expires, metadata: &metadata };
                rows::update(transaction, &row).map_err(index_fault)?;
                changes.push(StoreChange::Updated(stored.uri, new.owner.clone()));
            }
            earlier => {
                if earlier.is_some() {
                    rows::remove(transaction, address, owner).map_err(index_fault)?;
                }
                let row = ResourceRow { address, owner, expires, metadata: &new.metadata };
                rows::insert(transaction, &row, size).map_err(index_fault)?;
                changes.push(StoreChange::Added(address.to_string(), new.owner.clone()));
            }
        }
        let stored = rows::find_any(transaction, address, owner).map_err(index_fault)?;
        Ok((stored.map(|(stored, _)| stored).ok_or_else(|| address.unknown())?, changes))
    }
}

impl fmt::Debug for BlobStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlobStore").field("settings", &self.settings()).finish_non_exhaustive()
    }
}

pub(crate) fn merge(metadata: &mut Map<String, Value>, changes: Map<String, Value>) {
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
