//! A tool server combined with stored files. They are listed, read and subscribed to like its own resources.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use failwell_fault::{Fault, OrFault, reason};
use failwell_render::{Cache, CacheScope};
use failwell_rpc::Caller;
use failwell_rpc::{Json, Raw};
use failwell_store::blob_store::{FileReader, ListFilter, StoredFile, is_text};
use serde_json::{Value, json};

use crate::rest::stored_file_calls::check_address;
use crate::rest::stored_files::{SHELF_SERVER, StoredFiles, definition, is_stored_file_uri};
use failwell_toolbox::Context;
use failwell_toolbox::Guidance;
use failwell_toolbox::MetricsText;
use failwell_toolbox::ResourceContents;
use failwell_toolbox::Work;
use failwell_toolbox::{CompletionTarget, Lookup, PromptTarget, ResourceTarget, ToolTarget};
use failwell_toolbox::{Info, List, Members, Page, ServerFeatures, Support, ToolServer, unknown_resource};
use parking_lot::Mutex;

/// The prefix of a cursor into the stored files, which are listed after the server's own resources.
const CURSOR: &str = "dev.failwell.shelf/";

/// Stored files change at any time, and callers see different ones.
const KEEP: Cache = Cache { ttl_ms: 0, scope: CacheScope::Private };

pub(crate) struct WithStoredFiles {
    pub(crate) server: Arc<dyn ToolServer>,
    pub(crate) files: StoredFiles,
    /// The maximum size of a response, in bytes.
    pub(crate) largest_answer: usize,
}

impl ToolServer for WithStoredFiles {
    fn info(&self) -> &Info {
        self.server.info()
    }

    fn offers(&self) -> ServerFeatures {
        ServerFeatures { resources: Support::Yes, ..self.server.offers() }
    }

    fn check(&self) -> Result<(), Fault> {
        self.server.check()
    }

    fn prepare(&self, cx: Context) -> Work<()> {
        self.server.prepare(cx)
    }

    fn guidance(&self, cx: Context) -> Work<Guidance> {
        self.server.guidance(cx)
    }

    fn list(&self, list: List, cursor: Option<String>, cx: Context) -> Work<Page> {
        let offered = self.server.offers().resources == Support::Yes;
        match list {
            List::Resources => {
                let (server, files) = (offered.then(|| self.server.clone()), self.files.clone());
                Box::pin(resources(server, files, cursor, cx))
            }
            List::Templates if offered => {
                let page = self.server.list(list, cursor, cx);
                Box::pin(async move { with_template(page.await?) })
            }
            List::Templates => Box::pin(async { with_template(empty(List::Templates)) }),
            List::Tools | List::Prompts => self.server.list(list, cursor, cx),
        }
    }

    fn metrics(&self, out: &mut MetricsText) {
        self.server.metrics(out);
    }

    fn shows_tool(&self, server: &str, tool: &str, caller: &Caller) -> bool {
        self.server.shows_tool(server, tool, caller)
    }

    fn is_visible_to(&self, caller: &Caller) -> bool {
        self.server.is_visible_to(caller)
    }

    fn roots_changed(&self, cx: Context) {
        self.server.roots_changed(cx);
    }

    fn is_federation(&self) -> bool {
        self.server.is_federation()
    }

    fn find_tool(&self, name: &str, caller: &Caller) -> Lookup<dyn ToolTarget> {
        self.server.find_tool(name, caller)
    }

    fn find_prompt(&self, name: &str, caller: &Caller) -> Lookup<dyn PromptTarget> {
        self.server.find_prompt(name, caller)
    }

    fn find_completion(&self, of: &str, caller: &Caller) -> Lookup<dyn CompletionTarget> {
        self.server.find_completion(of, caller)
    }

    /// A URI with the scheme of stored files must be valid.
    fn find_plain_resource(&self, uri: &str, caller: &Caller) -> Lookup<dyn ResourceTarget> {
        match check_address(uri) {
            Ok(()) => self.find_resource(uri, caller),
            Err(fault) => Lookup::Refused { fault, server: Some(SHELF_SERVER.into()) },
        }
    }

    fn find_resource(&self, uri: &str, caller: &Caller) -> Lookup<dyn ResourceTarget> {
        let own = self.server.find_resource(uri, caller);
        if !is_stored_file_uri(uri) {
            return own;
        }
        let (files, uri, largest_answer) = (self.files.clone(), uri.to_owned(), self.largest_answer);
        let target = move |own: Result<Arc<dyn ResourceTarget>, Fault>| -> Arc<dyn ResourceTarget> {
            let own = own.map_err(|fault| Mutex::new(Some(fault)));
            Arc::new(StoredFileTarget { files, own, uri, largest_answer })
        };
        match own {
            Lookup::Found(own) => Lookup::Found(target(Ok(own))),
            Lookup::Refused { fault, .. } => Lookup::Found(target(Err(fault))),
            Lookup::Pending { find, .. } => Lookup::Pending {
                find: Box::new(move |cx| Box::pin(async move { Ok(target(find(cx).await)) })),
                server: Some(SHELF_SERVER.into()),
            },
        }
    }
}

/// A URI in the form of a stored file's. If no such file exists, it may be a resource of the server.
pub(crate) struct StoredFileTarget {
    files: StoredFiles,
    /// The resource of the server under this URI, or the fault of its lookup, which a call takes once.
    own: Result<Arc<dyn ResourceTarget>, Mutex<Option<Fault>>>,
    uri: String,
    largest_answer: usize,
}

/// An open stored file, or the resource of the server with the same URI.
pub(crate) enum OpenResource {
    File(Box<FileReader>),
    /// There is no such file, but the server has a resource with this URI.
    Own(Arc<dyn ResourceTarget>),
}

impl StoredFileTarget {
    pub(crate) async fn open(&self, caller: &Caller) -> Result<OpenResource, Fault> {
        if let Some(file) = self.files.fetch(caller, &self.uri).await? {
            return Ok(OpenResource::File(Box::new(file)));
        }
        match &self.own {
            Ok(own) => Ok(OpenResource::Own(own.clone())),
            Err(fault) => Err(fault.lock().take().unwrap_or_else(|| unknown_resource(&self.uri))),
        }
    }
}

impl ResourceTarget for StoredFileTarget {
    fn server(&self) -> Option<&str> {
        Some(SHELF_SERVER)
    }

    fn read(self: Arc<Self>, cx: Context) -> Work<Members> {
        Box::pin(async move {
            match self.open(&cx.client().caller).await? {
                OpenResource::File(file) => contents(*file, self.largest_answer).await,
                OpenResource::Own(resource) => resource.read(cx).await,
            }
        })
    }

    fn watch(self: Arc<Self>, cx: Context) -> Work<()> {
        Box::pin(async move {
            match self.open(&cx.client().caller).await? {
                OpenResource::File(_) => Ok(()),
                OpenResource::Own(resource) => resource.watch(cx).await,
            }
        })
    }

    fn unwatch(&self, cx: Context) {
        // Without a stored file, the URI may be a resource of the server.
        if let Ok(own) = &self.own {
            own.unwatch(cx);
        }
    }
}

/// Lists the server's own pages first, then those of the stored files.
async fn resources(
    server: Option<Arc<dyn ToolServer>>,
    files: StoredFiles,
    cursor: Option<String>,
    cx: Context,
) -> Result<Page, Fault> {
    let caller = cx.client().caller.clone();
    if let Some(after) = cursor.as_deref().and_then(|cursor| cursor.strip_prefix(CURSOR)) {
        return append_stored_files(empty(List::Resources), &files, Some(after.to_owned()), &caller).await;
    }
    let page = match server {
        Some(server) => server.list(List::Resources, cursor, cx).await?,
        None if cursor.is_some() => return Err(Fault::new(&reason::MCP_BAD_CURSOR)),
        None => empty(List::Resources),
    };
    let has_more = page.members.raw().as_object().is_some_and(|members| members.get("nextCursor").is_some());
    if has_more { Ok(page) } else { append_stored_files(page, &files, None, &caller).await }
}

/// Appends the stored files that this caller sees to a page.
async fn append_stored_files(
    page: Page,
    files: &StoredFiles,
    after: Option<String>,
    caller: &Caller,
) -> Result<Page, Fault> {
    let found = files.of(caller).list(ListFilter { after, ..ListFilter::default() }).await?;
    let seen = found.items.iter().filter(|stored| files.reveal(caller, &stored.uri).is_ok());
    let page = Page { cache: KEEP, ..appended(page, List::Resources, seen.map(definition))? };
    let Some(next) = found.next else { return Ok(page) };
    let next = Json::of(&format!("{CURSOR}{next}")).or_fault(&reason::SERVER_BUG)?;
    let members = page.members.raw().as_object().and_then(|members| {
        let items = members.get(List::Resources.member())?;
        Some(Json::object([(List::Resources.member(), items), ("nextCursor", next.raw())].into_iter()))
    });
    Ok(Page { members: members.or_fault(&reason::SERVER_BUG)?, ..page })
}

fn with_template(page: Page) -> Result<Page, Fault> {
    let more = page.members.raw().as_object().is_some_and(|members| members.get("nextCursor").is_some());
    let template = json!({
        "uriTemplate": "resource://{type}/{sha256}{ext}",
        "name": "kept",
        "title": "Kept resources",
        "description": "Files that were uploaded or that tools made, named by the SHA-256 of their bytes.",
    });
    appended(page, List::Templates, (!more).then_some(template).into_iter())
}

fn empty(list: List) -> Page {
    Page { members: Json::from(&json!({list.member(): []})), meta: None, cache: KEEP }
}

fn appended(page: Page, list: List, more: impl Iterator<Item = Value>) -> Result<Page, Fault> {
    let object = page.members.raw().as_object().or_fault(&reason::SERVER_BUG)?;
    let items = object.get(list.member()).and_then(Raw::as_array);
    let items: Vec<Json> = items
        .into_iter()
        .flatten()
        .map(|item| item.to_json())
        .chain(more.map(|item| Json::from(&item)))
        .collect();
    let items = Json::of(&items).or_fault(&reason::SERVER_BUG)?;
    Ok(Page { members: object.replacing(list.member(), items.raw()), ..page })
}

/// The contents in MCP form: text verbatim, other bytes in base64.
async fn contents(fetched: FileReader, limit: usize) -> Result<Members, Fault> {
    // Base64 is larger still. The exact limit is checked on the whole response.
    if fetched.stored.size > limit as u64 {
        return Err(Fault::new(&reason::SERVER_TOO_LARGE).fact("limit", limit));
    }
    let (stored, bytes) = whole(fetched).await?;
    let contents = match text_of(&stored, bytes) {
        Ok(text) => ResourceContents::text(stored.uri, stored.media_type, text),
        Err(bytes) => ResourceContents::blob(stored.uri, stored.media_type, STANDARD.encode(bytes)),
    };
    Members::of(&json!({"contents": [contents]}))
}

/// Reads all bytes of a file.
pub(crate) async fn whole(mut fetched: FileReader) -> Result<(StoredFile, Vec<u8>), Fault> {
    let mut bytes = Vec::with_capacity(usize::try_from(fetched.stored.size).unwrap_or(0));
    while let Some(piece) = fetched.piece().await? {
        bytes.extend_from_slice(&piece);
    }
    Ok((fetched.stored, bytes))
}

/// Returns the bytes as text, if they are declared as text and valid.
fn text_of(stored: &StoredFile, bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    match is_text(stored.media_type) {
        true => String::from_utf8(bytes).map_err(|error| error.into_bytes()),
        false => Err(bytes),
    }
}
