//! Stored files, and their visibility.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use failwell_fault::{Fault, reason};
use failwell_render::Moment;
use failwell_rpc::{Caller, Role};
use failwell_store::blob_store::{
    AccessibleFiles, BlobStore, BlobUri, FileAccess, FileReader, ResourceType, SCHEME, StoreChange,
    StoredFile,
};
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;

use failwell_pipeline::Pipeline;
use failwell_toolbox::Event;
use parking_lot::{Mutex, RwLock};

/// The server name of stored files: in rules, in records, for guards.
pub const SHELF_SERVER: &str = "shelf";

/// Whether a caller may use a resource. A hidden resource returns the fault of an unknown one.
pub type VisibilityCheck = Arc<dyn Fn(&Caller, &str) -> Result<(), Fault> + Send + Sync>;

/// A blob store with the operator's visibility rules. A file belongs to the caller that stored it.
#[derive(Clone)]
pub struct StoredFiles {
    blobs: BlobStore,
    visibility: Option<VisibilityCheck>,
    /// Callers with one of these roles use the files of all callers.
    sharing: Arc<RwLock<Vec<String>>>,
    /// The owners of the files that changed last, for notifications.
    changed: Arc<Mutex<VecDeque<(String, String)>>>,
}

/// Number of changed files whose owners are remembered.
const MOST_CHANGED: usize = 1_024;

impl StoredFiles {
    /// Creates stored files that every caller sees.
    pub fn open_to_all(blobs: BlobStore) -> StoredFiles {
        StoredFiles::new(blobs, None)
    }

    /// Creates stored files with visibility rules.
    pub fn ruled(blobs: BlobStore, visibility: VisibilityCheck) -> StoredFiles {
        StoredFiles::new(blobs, Some(visibility))
    }

    fn new(blobs: BlobStore, visibility: Option<VisibilityCheck>) -> StoredFiles {
        let sharing = RwLock::new(vec![Role::Admin.as_str().to_owned()]);
        StoredFiles { blobs, visibility, sharing: Arc::new(sharing), changed: Arc::default() }
    }

    /// Sets the roles whose holders use the files of all callers. Returns true if they differ.
    pub fn share_with(&self, roles: Vec<String>) -> bool {
        let mut sharing = self.sharing.write();
        let differs = *sharing != roles;
        *sharing = roles;
        differs
    }

    /// The files that a caller may use.
    pub(crate) fn of(&self, caller: &Caller) -> AccessibleFiles {
        let access = if self.sees_all(caller) { FileAccess::all } else { FileAccess::owned_by };
        self.blobs.accessible(access(caller.owner()))
    }

    fn sees_all(&self, caller: &Caller) -> bool {
        let sharing = self.sharing.read();
        let has = |role: &String| {
            let included = Role::ALL.into_iter().find(|known| known.as_str() == role);
            caller.is_in(role) || included.is_some_and(|included| Role::highest(caller) >= included)
        };
        sharing.iter().any(has)
    }

    fn note_change(&self, uri: &str, owner: String) {
        let mut changed = self.changed.lock();
        changed.retain(|(known, _)| known != uri);
        if changed.len() >= MOST_CHANGED {
            changed.pop_front();
        }
        changed.push_back((uri.to_owned(), owner));
    }

    /// Whether the last change of a file concerns this caller.
    fn concerns(&self, caller: &Caller, uri: &str) -> bool {
        let changed = self.changed.lock();
        let owner = changed.iter().rev().find(|(known, _)| known == uri).map(|(_, owner)| owner);
        owner.is_some_and(|owner| owner.is_empty() || owner == caller.owner()) || self.sees_all(caller)
    }

    pub fn blob_store(&self) -> &BlobStore {
        &self.blobs
    }

    /// Refuses a resource that this caller may not use.
    pub(crate) fn reveal(&self, caller: &Caller, uri: &str) -> Result<(), Fault> {
        self.visibility.as_ref().map_or(Ok(()), |visibility| visibility(caller, uri))
    }

    /// Whether a caller may be notified of a change. Changes of hidden resources are never sent.
    pub(crate) fn shows_event(&self, caller: &Caller, event: &Event) -> bool {
        match event.kind() {
            Event::ResourceUpdated(uri) if is_stored_file_uri(uri) => {
                self.concerns(caller, uri) && self.reveal(caller, uri).is_ok()
            }
            _ => true,
        }
    }

    /// Refuses an upload that the caller could not read.
    pub(crate) fn reveal_kind(&self, caller: &Caller, kind: &ResourceType) -> Result<(), Fault> {
        self.reveal(caller, &format!("{SCHEME}{}/", kind.as_str())).map_err(|fault| {
            let hidden = *fault.reason() == reason::MCP_UNKNOWN_RESOURCE;
            if hidden {
                Fault::new(&reason::POLICY_DENIED).note("shelf", "the type is hidden")
            } else {
                fault
            }
        })
    }

    /// Opens the stored file of a URI, if this caller may use it. `None` means that another server may know
    /// the URI.
    pub(crate) async fn fetch(&self, caller: &Caller, uri: &str) -> Result<Option<FileReader>, Fault> {
        if BlobUri::parse(uri).is_err() {
            return Ok(None);
        }
        let found = match self.reveal(caller, uri) {
            Ok(()) => self.of(caller).fetch(uri).await,
            Err(fault) => Err(fault),
        };
        match found {
            Ok(fetched) => Ok(Some(fetched)),
            Err(fault) if *fault.reason() == reason::MCP_UNKNOWN_RESOURCE => Ok(None),
            Err(fault) => Err(fault),
        }
    }
}

impl fmt::Debug for StoredFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredFiles").field("blobs", &self.blobs).finish_non_exhaustive()
    }
}

/// Whether a URI has the form of a stored file's URI.
pub(crate) fn is_stored_file_uri(uri: &str) -> bool {
    // Most URIs fail the prefix check, which avoids building a parse error.
    uri.starts_with(SCHEME) && BlobUri::parse(uri).is_ok()
}

/// The description of a stored file for `/rpc` and REST.
pub(crate) fn description(stored: &StoredFile) -> Value {
    json!({
        "uri": stored.uri,
        "type": stored.kind.as_str(),
        "sha256": stored.sha256,
        "size": stored.size,
        "media_type": stored.media_type,
        "created": Moment::from(stored.created).to_string(),
        "expires": Moment::from(stored.expires).to_string(),
        "metadata": stored.metadata,
    })
}

/// The definition of a stored file in `resources/list`.
pub(crate) fn definition(stored: &StoredFile) -> Value {
    json!({
        "uri": stored.uri,
        "name": name(stored),
        "mimeType": stored.media_type,
        "size": stored.size,
        "annotations": {"lastModified": Moment::from(stored.created).to_string()},
    })
}

/// The uploaded name, or a unique one.
fn name(stored: &StoredFile) -> String {
    let given = stored.metadata.get("file_name").and_then(Value::as_str);
    let short: String = stored.sha256.chars().take(12).collect();
    given.map_or_else(
        || format!("{}/{short}{}", stored.kind.as_str(), stored.extension.as_str()),
        str::to_owned,
    )
}

impl StoredFiles {
    /// Announces changes of stored files to the clients of a pipeline, until the pipeline is dropped.
    pub(crate) fn announce_to(&self, pipeline: &Arc<Pipeline>) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (mut changes, pipeline, files) = (self.blobs.changes(), Arc::downgrade(pipeline), self.clone());
        runtime.spawn(async move {
            loop {
                let change = changes.recv().await;
                let Some(pipeline) = pipeline.upgrade() else { return };
                let hub = pipeline.hub();
                match change {
                    Ok(StoreChange::Updated(uri, owner)) => {
                        files.note_change(&uri, owner);
                        hub.announce(Event::ResourceUpdated(uri.into()));
                    }
                    Ok(StoreChange::Removed(uri, owner)) => {
                        files.note_change(&uri, owner);
                        hub.announce(Event::ResourceUpdated(uri.into()));
                        hub.announce(Event::ResourcesChanged);
                    }
                    Ok(StoreChange::Added(..) | StoreChange::Elsewhere) | Err(RecvError::Lagged(_)) => {
                        hub.announce(Event::ResourcesChanged);
                    }
                    Err(RecvError::Closed) => return,
                }
            }
        });
    }
}
