//! `POST /v1/resources`: a form with a file, stored while it is received.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use failwell_controls::{StoredFileCall, Upload, UploadTarget};
use failwell_fault::{Fault, Pointer, Retry, Rule, Violation, reason};
use failwell_pipeline::{Answer, Call};
use failwell_render::Reply;
use failwell_rpc::Caller;
use failwell_store::blob_store::{
    BlobStoreSettings, Extension, FileName, FileWriter, NewFile, ResourceType, StoredFile, extension_of,
};
use futures_util::stream::{Stream, unfold};
use http::header::{CONTENT_TYPE, HeaderValue, LOCATION};
use http::{Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use multer::{Constraints, Field, Multipart, SizeLimit};
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;

use failwell_transport::paths::{Body, Mount, RequestHead, handle, last, read_on, read_value, rendered};

use crate::services;

/// Maximum number of parts in a form.
const MOST_PARTS: usize = 8;
/// Maximum bytes of a part other than the file.
const LARGEST_FIELD: u64 = 64 * 1024;
/// Maximum bytes of part heads and boundaries, in addition to the file.
const AROUND: u64 = 256 * 1024;
/// Maximum bytes received ahead of the form parser.
const MOST_UNREAD: u64 = 1024 * 1024;

pub(crate) fn upload<'a>(
    mount: &'a Arc<Mount>,
    head: &'a RequestHead<'a>,
    body: Incoming,
    caller: Caller,
) -> Pin<Box<dyn Future<Output = Response<Body>> + Send + 'a>> {
    Box::pin(store(mount, head, body, caller))
}

async fn store(mount: &Arc<Mount>, head: &RequestHead<'_>, body: Incoming, caller: Caller) -> Response<Body> {
    let Answer { reply, .. } = handle(mount, head, call(mount, head, body), Bytes::new(), caller).await;
    match reply {
        None => mount.reply(None),
        // The unread rest of a refused upload would precede the next request.
        Some(reply) if reply.status != 200 => last(rendered(reply)),
        Some(reply) => created(reply),
    }
}

/// The call that receives an upload after the pipeline has authorized it.
fn call(mount: &Mount, head: &RequestHead<'_>, body: Incoming) -> Result<Call<'static>, Fault> {
    let kind = head.get(CONTENT_TYPE).unwrap_or_default();
    let boundary = multer::parse_boundary(kind).map_err(unreadable)?;
    let (declared, patience) = (head.content_length(), mount.settings.body_deadline);
    let upload = Upload::new(move |target| {
        Box::pin(async move {
            let body = Arc::new(Mutex::new(body));
            let taken = take(&target, body.clone(), &boundary, declared, patience).await;
            if let (Err(_), Some(body)) = (&taken, Arc::into_inner(body)) {
                read_on(body.into_inner());
            }
            taken
        })
    });
    Ok(services(mount)?.stored_files(StoredFileCall::Upload(upload)))
}

/// The response to a stored upload: 201 with its location.
fn created(reply: Reply) -> Response<Body> {
    let made: Option<Value> = serde_json::from_slice(&reply.body).ok();
    let uri = made.as_ref().and_then(|made| made.get("uri")?.as_str());
    let place = uri.and_then(|uri| HeaderValue::from_str(&format!("/v1/resources/{uri}")).ok());
    let mut response = rendered(reply);
    *response.status_mut() = StatusCode::CREATED;
    if let Some(place) = place {
        response.headers_mut().insert(LOCATION, place);
    }
    response
}

async fn take(
    target: &UploadTarget,
    body: Arc<Mutex<Incoming>>,
    boundary: &str,
    declared: Option<u64>,
    patience: Duration,
) -> Result<StoredFile, Fault> {
    let settings = target.blob_store().settings();
    let most = settings.largest.saturating_add(AROUND);
    if let Some(size) = declared.filter(|size| *size > most) {
        return Err(too_large(size, &settings));
    }
    let unread = Arc::new(AtomicU64::new(0));
    let limits = Constraints::new().size_limit(SizeLimit::new().whole_stream(most));
    let mut form = Multipart::with_constraints(pieces(body, patience, unread.clone()), boundary, limits);
    let mut fields = Fields::default();
    let reception = Reception { target, settings: &settings, unread: &unread };
    while let Some(field) = form.next_field().await.map_err(|error| foreign(error, &settings))? {
        reception.note_progress();
        fields.take(field, &reception).await?;
    }
    fields.keep(target).await
}

/// The body in pieces. Yields between pieces, so that a fast sender does not fill the memory.
fn pieces(
    body: Arc<Mutex<Incoming>>,
    patience: Duration,
    unread: Arc<AtomicU64>,
) -> impl Stream<Item = Result<Bytes, Fault>> + Send + 'static {
    unfold(Some((body, unread)), move |state| async move {
        let (body, unread) = state?;
        tokio::task::yield_now().await;
        let next = async { body.lock().await.frame().await };
        let piece = match tokio::time::timeout(patience, next).await {
            Err(_) => Err(Fault::new(&reason::HTTP_SLOW_BODY).fact("limit_s", patience.as_secs())),
            Ok(None) => return None,
            Ok(Some(Err(error))) => Err(Fault::new(&reason::SHELF_CUT_OFF).because(error)),
            Ok(Some(Ok(frame))) => Ok(frame.into_data().unwrap_or_default()),
        };
        let piece = piece.and_then(|piece| {
            let more = piece.len() as u64;
            match unread.fetch_add(more, Ordering::Relaxed).saturating_add(more) > MOST_UNREAD {
                true => Err(Fault::new(&reason::SHELF_BAD_MULTIPART)),
                false => Ok(piece),
            }
        });
        let state = piece.is_ok().then_some((body, unread));
        Some((piece, state))
    })
}

/// Where an upload goes, and its progress.
struct Reception<'a> {
    target: &'a UploadTarget,
    settings: &'a BlobStoreSettings,
    /// The bytes read since the form parser last understood a part or a piece of one.
    unread: &'a AtomicU64,
}

impl Reception<'_> {
    fn note_progress(&self) {
        self.unread.store(0, Ordering::Relaxed);
    }

    /// The next piece of a part.
    async fn chunk(&self, field: &mut Field<'static>) -> Result<Option<Bytes>, Fault> {
        let piece = field.chunk().await.map_err(|error| foreign(error, self.settings))?;
        self.note_progress();
        Ok(piece)
    }
}

/// The parts of a form received so far.
#[derive(Default)]
struct Fields {
    parts: usize,
    seen: HashSet<String>,
    kind: Option<ResourceType>,
    ttl: Option<Duration>,
    metadata: Map<String, Value>,
    file: Option<FileWriter>,
    name: Option<FileName>,
    extension: Extension,
    wrong: Vec<Violation>,
}

impl Fields {
    async fn take(&mut self, mut field: Field<'static>, reception: &Reception<'_>) -> Result<(), Fault> {
        self.parts += 1;
        let name = field.name().map(str::to_owned).filter(|_| self.parts <= MOST_PARTS);
        let name = name.ok_or_else(|| Fault::new(&reason::SHELF_BAD_MULTIPART))?;
        let at = || Pointer::root().then(&name);
        let known = matches!(name.as_str(), "file" | "type" | "ttl" | "metadata");
        if !known {
            self.wrong.push(Violation::new(at(), Rule::Unknown));
        } else if !self.seen.insert(name.clone()) {
            self.wrong.push(Violation::new(at(), Rule::UniqueItems));
        } else if name == "file" {
            return self.take_file(field, reception).await;
        }
        let mut text = Vec::new();
        while let Some(piece) = reception.chunk(&mut field).await? {
            text.extend_from_slice(&piece);
            if text.len() as u64 > LARGEST_FIELD {
                return Err(
                    Fault::new(&reason::SHELF_BAD_MULTIPART).note("part", "larger than a field may be")
                );
            }
        }
        match name.as_str() {
            "type" => {
                let kind = ResourceType::new(&String::from_utf8_lossy(&text))?;
                reception.target.admit(&kind)?;
                self.kind = Some(kind);
            }
            "ttl" => self.read_ttl(&text, reception.settings),
            "metadata" => match read_value(&text).ok().and_then(|json| json.raw().parse().ok()) {
                Some(Value::Object(metadata)) => self.metadata = metadata,
                _ => self.wrong.push(Violation::new(at(), Rule::Type).limit("object")),
            },
            _ => {}
        }
        Ok(())
    }

    /// Receives the file. If the form is already invalid, the file is read and discarded.
    async fn take_file(&mut self, mut field: Field<'static>, reception: &Reception<'_>) -> Result<(), Fault> {
        self.name = field.file_name().map(FileName::new).transpose()?;
        let by_type = field.content_type().map(|kind| extension_of(kind.as_ref()));
        let by_name = self.name.as_ref().and_then(FileName::extension);
        self.extension = by_name.or(by_type).unwrap_or_default();
        let mut deposit = reception.target.blob_store().receive().await?;
        while let Some(piece) = reception.chunk(&mut field).await? {
            if self.wrong.is_empty() {
                deposit.write(piece).await?;
            }
        }
        self.file = Some(deposit);
        Ok(())
    }

    fn read_ttl(&mut self, text: &[u8], settings: &BlobStoreSettings) {
        let at = || Pointer::root().then("ttl");
        let longest = settings.longest_ttl.as_secs();
        let seconds = std::str::from_utf8(text).ok().and_then(|text| text.trim().parse::<i64>().ok());
        match seconds.map(u64::try_from) {
            None => self.wrong.push(Violation::new(at(), Rule::Type).limit("integer")),
            Some(Err(_) | Ok(0)) => self.wrong.push(Violation::new(at(), Rule::Minimum).limit(1u64)),
            Some(Ok(seconds)) if seconds > longest => {
                self.wrong.push(Violation::new(at(), Rule::Maximum).limit(longest));
            }
            Some(Ok(seconds)) => self.ttl = Some(Duration::from_secs(seconds)),
        }
    }

    /// Stores the file, unless a part is missing or invalid.
    async fn keep(mut self, target: &UploadTarget) -> Result<StoredFile, Fault> {
        for name in ["file", "type"].into_iter().filter(|name| !self.seen.contains(*name)) {
            self.wrong.push(Violation::new(Pointer::root().then(name), Rule::Required));
        }
        let (Some(kind), Some(file), true) = (self.kind, self.file, self.wrong.is_empty()) else {
            return Err(self.wrong.into_iter().fold(Fault::new(&reason::HTTP_INVALID), Fault::violation));
        };
        if let Some(name) = &self.name {
            self.metadata.entry("file_name").or_insert_with(|| json!(name.as_str()));
        }
        let metadata = target.guard_metadata(self.metadata).await?;
        let owner = target.owner().to_owned();
        file.finish_as(NewFile { owner, kind, extension: self.extension, ttl: self.ttl, metadata }).await
    }
}

fn too_large(size: u64, settings: &BlobStoreSettings) -> Fault {
    let large = Fault::new(&reason::SHELF_TOO_LARGE).fact("size", size).fact("limit", settings.largest);
    large.retry_as(Retry::AfterChange)
}

/// Classifies errors of the form parser.
fn foreign(error: multer::Error, settings: &BlobStoreSettings) -> Fault {
    match error {
        multer::Error::StreamReadFailed(cause) => match cause.downcast::<Fault>() {
            Ok(fault) => *fault,
            Err(_) => Fault::new(&reason::SHELF_CUT_OFF),
        },
        multer::Error::StreamSizeExceeded { limit } => too_large(limit, settings),
        multer::Error::IncompleteFieldData { .. }
        | multer::Error::IncompleteHeaders
        | multer::Error::IncompleteStream => Fault::new(&reason::SHELF_CUT_OFF),
        other => unreadable(other),
    }
}

fn unreadable(error: multer::Error) -> Fault {
    Fault::new(&reason::SHELF_BAD_MULTIPART).because(error)
}
