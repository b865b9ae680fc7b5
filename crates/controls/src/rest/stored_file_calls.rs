//! REST calls about stored files.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use failwell_fault::{Fault, OrFault, reason};
use failwell_pipeline::{
    Attachment, ContentGuards, ExtensionCall, ExtensionOutcome, ExtensionRequest, ExtensionRoute, MessageMeta,
};
use failwell_rpc::{Caller, Json};
use failwell_store::blob_store::{
    BlobStore, BlobUri, FileReader, ListFilter, ResourceType, SCHEME, StoredFile, is_text,
};
use serde_json::{Map, Value, json};

use crate::rest::stored_files::{SHELF_SERVER, StoredFiles, description};
use crate::rest::with_stored_files::{OpenResource, StoredFileTarget, whole};
use failwell_toolbox::Work;

/// An upload. It stores its bytes through a `UploadTarget`.
pub struct Upload(Box<dyn FnOnce(UploadTarget) -> Work<StoredFile> + Send>);

impl Upload {
    pub fn new(take_in: impl FnOnce(UploadTarget) -> Work<StoredFile> + Send + 'static) -> Upload {
        Upload(Box::new(take_in))
    }
}

impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Upload")
    }
}

/// A call about stored files, or a download of any resource.
#[derive(Debug)]
pub enum StoredFileCall {
    /// One page of the stored files.
    List(ListFilter),
    /// The metadata of a file.
    Describe(String),
    /// The content of a file.
    Read {
        uri: String,
        /// The requested range; `None` for all bytes.
        span: Option<Span>,
    },
    Upload(Upload),
    /// Changes metadata.
    Edit {
        uri: String,
        /// The changed members; `null` removes a member.
        changes: Map<String, Value>,
    },
    Remove(String),
}

/// A byte range of a resource whose size the caller may not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    /// From the first byte to the last, inclusive; without a last byte, to the end.
    From(u64, Option<u64>),
    /// The last bytes, by number.
    Last(u64),
}

impl Span {
    /// Resolves the range for this size; `None` if it contains no bytes.
    pub fn of(self, size: u64) -> Option<std::ops::Range<u64>> {
        let range = match self {
            Span::From(start, last) => start..last.map_or(size, |last| last.saturating_add(1)).min(size),
            Span::Last(count) => size.saturating_sub(count)..size,
        };
        (!range.is_empty()).then_some(range)
    }
}

/// The content of a download.
pub enum FileContents {
    /// A file that is still to be read.
    File(FileReader),
    /// Bytes in memory.
    Whole(StoredFile, Vec<u8>),
    /// Bytes that replace those of the file.
    Redacted(StoredFile, Vec<u8>),
    /// A text. Its redacted form is the member `text` of the response.
    Text(StoredFile, String),
}

/// The result of a call about files: an object, the bytes that follow it, and the URI of a new file.
struct FileResult {
    outcome: Value,
    bytes: Option<FileContents>,
    uri: Option<String>,
}

/// The destination of an upload.
pub struct UploadTarget {
    guards: Arc<dyn ContentGuards>,
    files: StoredFiles,
    caller: Caller,
    connection: String,
}

impl UploadTarget {
    pub fn blob_store(&self) -> &BlobStore {
        self.files.blob_store()
    }

    pub fn owner(&self) -> &str {
        self.caller.owner()
    }

    /// Refuses a type that the caller may not use.
    pub fn admit(&self, kind: &ResourceType) -> Result<(), Fault> {
        self.files.reveal_kind(&self.caller, kind)
    }

    /// Runs the guards on the metadata of an upload, and returns the redacted metadata.
    pub async fn guard_metadata(&self, metadata: Map<String, Value>) -> Result<Map<String, Value>, Fault> {
        let json = Json::of(&metadata).or_fault(&reason::SERVER_BUG)?;
        let meta = MessageMeta {
            server: SHELF_SERVER,
            method: "resources/upload",
            caller: self.caller.name(),
            connection: &self.connection,
            ..MessageMeta::default()
        };
        match self.guards.incoming(meta, json.text()).await? {
            Some(clean) => clean.raw().parse().or_fault(&reason::SERVER_BUG),
            None => Ok(metadata),
        }
    }
}

impl StoredFileCall {
    fn method(&self) -> &'static str {
        match self {
            StoredFileCall::List(_) => "resources/list",
            StoredFileCall::Describe(_) => "resources/describe",
            StoredFileCall::Read { .. } => "resources/read",
            StoredFileCall::Upload(_) => "resources/upload",
            StoredFileCall::Edit { .. } => "resources/edit",
            StoredFileCall::Remove(_) => "resources/remove",
        }
    }

    fn target(&self) -> Option<&str> {
        match self {
            StoredFileCall::List(_) | StoredFileCall::Upload(_) => None,
            StoredFileCall::Describe(uri) | StoredFileCall::Remove(uri) => Some(uri),
            StoredFileCall::Read { uri, .. } | StoredFileCall::Edit { uri, .. } => Some(uri),
        }
    }

    /// The JSON that guards inspect.
    fn content(&self) -> Value {
        match self {
            StoredFileCall::Edit { uri, changes } => json!({"uri": uri, "metadata": changes}),
            other => json!({"uri": other.target()}),
        }
    }
}

/// A call about stored files, with the store it concerns.
pub(crate) struct StoredFilesRequest {
    pub(crate) call: StoredFileCall,
    pub(crate) files: Option<StoredFiles>,
    pub(crate) guards: Arc<dyn ContentGuards>,
}

impl fmt::Debug for StoredFilesRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoredFilesRequest").field(&self.call).finish()
    }
}

impl ExtensionCall for StoredFilesRequest {
    fn method(&self) -> &'static str {
        self.call.method()
    }

    fn target(&self) -> Option<&str> {
        self.call.target()
    }

    fn route(&self) -> ExtensionRoute<'_> {
        match &self.call {
            StoredFileCall::Read { uri, .. } => ExtensionRoute::Resource(uri),
            _ => ExtensionRoute::Server(SHELF_SERVER),
        }
    }

    fn content(&self) -> Result<Option<Cow<'_, str>>, Fault> {
        let content = Json::of(&self.call.content()).or_fault(&reason::SERVER_BUG)?;
        Ok(Some(Cow::Owned(content.text().to_owned())))
    }

    fn with_content(self: Box<Self>, clean: Json) -> Result<Box<dyn ExtensionCall>, Fault> {
        let members: Map<String, Value> = clean.raw().parse().or_fault(&reason::SERVER_BUG)?;
        Ok(Box::new(StoredFilesRequest { call: self.call.with_content(&members), ..*self }))
    }

    fn serve(self: Box<Self>, request: ExtensionRequest) -> Work<ExtensionOutcome> {
        Box::pin(async move {
            let FileResult { outcome, bytes, uri } = serve(*self, request).await?;
            Ok(ExtensionOutcome {
                attachment: bytes.map(|bytes| Box::new(bytes) as Attachment),
                target: uri,
                ..Json::of(&outcome).or_fault(&reason::SERVER_BUG)?.into()
            })
        })
    }
}

async fn serve(of: StoredFilesRequest, request: ExtensionRequest) -> Result<FileResult, Fault> {
    let ExtensionRequest { cx, connection, resource, largest_answer, .. } = request;
    let StoredFilesRequest { call, files, guards } = of;
    let caller = cx.client().caller.clone();
    match (call, resource, files) {
        (StoredFileCall::Read { span, .. }, Some(resource), _) => {
            let any: Arc<dyn Any + Send + Sync> = resource.clone();
            let found = match any.downcast::<StoredFileTarget>() {
                Ok(target) => target.open(&caller).await?,
                Err(_) => OpenResource::Own(resource),
            };
            match found {
                OpenResource::File(file) => {
                    let inspector =
                        FileInspector { guards: &guards, caller: caller.name(), connection: &connection };
                    read(*file, span, largest_answer, inspector).await
                }
                OpenResource::Own(resource) => {
                    let found = resource.read(cx).await?;
                    let outcome = found.members.to_json().raw().parse().or_fault(&reason::SERVER_BUG)?;
                    Ok(FileResult::of(outcome))
                }
            }
        }
        (call, _, Some(files)) => {
            let target = UploadTarget { guards, files: files.clone(), caller: caller.clone(), connection };
            stored(call, files, caller, target).await
        }
        (_, _, None) => Err(Fault::new(&reason::HTTP_UNKNOWN_PATH)),
    }
}

impl FileResult {
    fn of(outcome: Value) -> FileResult {
        FileResult { outcome, bytes: None, uri: None }
    }
}

/// Serves a call that concerns the blob store only.
async fn stored(
    call: StoredFileCall,
    files: StoredFiles,
    caller: Caller,
    target: UploadTarget,
) -> Result<FileResult, Fault> {
    let known = |uri: &str| {
        check_address(uri)?;
        files.reveal(&caller, uri)
    };
    match call {
        StoredFileCall::List(wanted) => {
            let page = files.of(&caller).list(wanted).await?;
            let seen = page.items.iter().filter(|stored| files.reveal(&caller, &stored.uri).is_ok());
            let items: Vec<Value> = seen.map(description).collect();
            let mut outcome = json!({"resources": items});
            if let (Some(next), Some(members)) = (page.next, outcome.as_object_mut()) {
                members.insert("next_cursor".to_owned(), json!(next));
            }
            Ok(FileResult::of(outcome))
        }
        StoredFileCall::Describe(uri) => {
            known(&uri)?;
            Ok(FileResult::of(description(&files.of(&caller).describe(&uri).await?)))
        }
        StoredFileCall::Edit { uri, changes } => {
            known(&uri)?;
            Ok(FileResult::of(description(&files.of(&caller).edit(&uri, changes).await?)))
        }
        StoredFileCall::Remove(uri) => {
            known(&uri)?;
            Ok(FileResult::of(description(&files.of(&caller).remove(&uri).await?)))
        }
        StoredFileCall::Upload(upload) => {
            let stored = (upload.0)(target).await?;
            Ok(FileResult { outcome: description(&stored), bytes: None, uri: Some(stored.uri) })
        }
        StoredFileCall::Read { .. } => Err(Fault::new(&reason::SERVER_BUG)),
    }
}

/// The guards for the bytes of files.
struct FileInspector<'a> {
    guards: &'a Arc<dyn ContentGuards>,
    caller: &'a str,
    connection: &'a str,
}

impl FileInspector<'_> {
    /// The bytes that replace a file which is not text; `None` if it may pass. Guards read them in base64, as in
    /// an MCP response.
    async fn inspect(&self, bytes: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        let meta = MessageMeta {
            server: SHELF_SERVER,
            method: "resources/read",
            caller: self.caller,
            connection: self.connection,
            ..MessageMeta::default()
        };
        let json = format!(r#"{{"blob":"{}"}}"#, STANDARD.encode(bytes));
        let Some(left) = self.guards.content(meta, json.into_bytes()).await? else { return Ok(None) };
        let left: Value = serde_json::from_slice(&left).or_fault(&reason::SERVER_BUG)?;
        let blob = left.get("blob").and_then(Value::as_str).unwrap_or_default();
        STANDARD.decode(blob).or_fault(&reason::SERVER_BUG).map(Some)
    }
}

/// Reads a file. Guards inspect it whatever its type says. Only a file that is too large to be inspected and is
/// not declared as text follows the response as it is.
async fn read(
    fetched: FileReader,
    span: Option<Span>,
    limit: usize,
    inspector: FileInspector<'_>,
) -> Result<FileResult, Fault> {
    let size = fetched.stored.size;
    if span.is_some_and(|span| span.of(size).is_none()) {
        return Err(Fault::new(&reason::SHELF_RANGE).fact("size", size));
    }
    if size > limit as u64 {
        if is_text(fetched.stored.media_type) {
            return Err(Fault::new(&reason::SERVER_TOO_LARGE).fact("limit", limit));
        }
        let outcome = description(&fetched.stored);
        return Ok(FileResult { outcome, bytes: Some(FileContents::File(fetched)), uri: None });
    }
    let uri = fetched.stored.uri.clone();
    let (stored, bytes) = whole(fetched).await?;
    match String::from_utf8(bytes) {
        Ok(text) => {
            let outcome = json!({"uri": uri, "media_type": stored.media_type, "text": text});
            Ok(FileResult { outcome, bytes: Some(FileContents::Text(stored, text)), uri: None })
        }
        Err(error) => {
            let (outcome, bytes) = (description(&stored), error.into_bytes());
            let contents = match inspector.inspect(&bytes).await? {
                None => FileContents::Whole(stored, bytes),
                Some(left) => FileContents::Redacted(stored, left),
            };
            Ok(FileResult { outcome, bytes: Some(contents), uri: None })
        }
    }
}

/// A URI with the scheme of stored files must be valid.
pub(crate) fn check_address(uri: &str) -> Result<(), Fault> {
    match uri.starts_with(SCHEME).then(|| BlobUri::parse(uri)) {
        Some(Err(fault)) if *fault.reason() == reason::SHELF_BAD_URI => Err(fault),
        _ => Ok(()),
    }
}

impl StoredFileCall {
    /// Returns the same call with its redacted content.
    fn with_content(self, clean: &Map<String, Value>) -> StoredFileCall {
        let uri = clean.get("uri").and_then(Value::as_str).unwrap_or_default().to_owned();
        match self {
            StoredFileCall::Describe(_) => StoredFileCall::Describe(uri),
            StoredFileCall::Remove(_) => StoredFileCall::Remove(uri),
            StoredFileCall::Read { span, .. } => StoredFileCall::Read { uri, span },
            StoredFileCall::Edit { .. } => {
                let changes = clean.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
                StoredFileCall::Edit { uri, changes }
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Span;

    #[test]
    fn spans_are_cut_to_what_is_there() {
        for (span, size, wanted) in [
            (Span::From(0, None), 10, Some(0..10)),
            (Span::From(3, Some(5)), 10, Some(3..6)),
            (Span::From(3, Some(u64::MAX)), 10, Some(3..10)),
            (Span::From(10, None), 10, None),
            (Span::From(5, Some(4)), 10, None),
            (Span::Last(3), 10, Some(7..10)),
            (Span::Last(30), 10, Some(0..10)),
            (Span::Last(0), 10, None),
            (Span::From(0, None), 0, None),
        ] {
            assert_eq!(span.of(size), wanted, "{span:?} of {size}");
        }
    }
}
