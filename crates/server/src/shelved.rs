//! A room with a shelf beside it: what is kept is listed, read and watched as the room's own resources are.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use failwell_fault::{Fault, OrFault, reason};
use failwell_policy::Caller;
use failwell_render::{Cache, CacheScope};
use failwell_rpc::{Json, Raw};
use failwell_shelf::{Fetched, Kept, Wanted, is_text};
use serde_json::{Value, json};

use crate::content::{ResourceContents, ToolOutcome};
use crate::context::Context;
use crate::guidance::Guidance;
use crate::numbers::Numbers;
use crate::room::{Completion, Info, List, Members, Offered, Offers, Page, Room};
use crate::shelf_desk::{SHELF_SERVER, ShelfDesk, definition, is_kept_address};
use crate::tool::{HeaderParam, Work};

/// What comes before a cursor of the shelf's own part of the list, which comes after the room's.
const CURSOR: &str = "dev.failwell.shelf/";

/// What is kept changes any moment, and not everybody sees the same of it.
const KEEP: Cache = Cache { ttl_ms: 0, scope: CacheScope::Private };

/// A room with a shelf beside it.
pub(crate) struct Shelved {
    pub(crate) room: Arc<dyn Room>,
    pub(crate) desk: ShelfDesk,
    /// The most bytes one answer may have.
    pub(crate) largest_answer: usize,
}

impl Room for Shelved {
    fn info(&self) -> &Info {
        self.room.info()
    }

    fn offers(&self) -> Offers {
        Offers { resources: Offered::Yes, ..self.room.offers() }
    }

    fn settle(&self, cx: Context) -> Work<()> {
        self.room.settle(cx)
    }

    fn guidance(&self, cx: Context) -> Work<Guidance> {
        self.room.guidance(cx)
    }

    fn list(&self, list: List, cursor: Option<String>, cx: Context) -> Work<Page> {
        let offered = self.room.offers().resources == Offered::Yes;
        match list {
            List::Resources => {
                let (room, desk) = (offered.then(|| self.room.clone()), self.desk.clone());
                Box::pin(resources(room, desk, cursor, cx))
            }
            List::Templates if offered => {
                let page = self.room.list(list, cursor, cx);
                Box::pin(async move { with_template(page.await?) })
            }
            List::Templates => Box::pin(async { with_template(empty(List::Templates)) }),
            List::Tools | List::Prompts => self.room.list(list, cursor, cx),
        }
    }

    fn header_params(&self, tool: &str, caller: &Caller) -> Vec<HeaderParam> {
        self.room.header_params(tool, caller)
    }

    fn metrics(&self, out: &mut Numbers) {
        self.room.metrics(out);
    }

    fn call(&self, tool: &str, arguments: Json, cx: Context) -> Work<ToolOutcome> {
        self.room.call(tool, arguments, cx)
    }

    fn read(&self, uri: &str, cx: Context) -> Work<Members> {
        if !is_kept_address(uri) {
            return self.room.read(uri, cx);
        }
        let (room, desk, uri, limit) =
            (self.room.clone(), self.desk.clone(), uri.to_owned(), self.largest_answer);
        Box::pin(async move {
            match desk.fetch(&cx.client().caller, &uri).await? {
                Some(fetched) => contents(fetched, limit).await,
                None => room.read(&uri, cx).await,
            }
        })
    }

    fn watch(&self, uri: &str, cx: Context) -> Work<()> {
        if !is_kept_address(uri) {
            return self.room.watch(uri, cx);
        }
        let (room, desk, uri) = (self.room.clone(), self.desk.clone(), uri.to_owned());
        Box::pin(async move {
            match desk.fetch(&cx.client().caller, &uri).await? {
                Some(_) => Ok(()),
                None => room.watch(&uri, cx).await,
            }
        })
    }

    fn unwatch(&self, uri: &str, cx: Context) {
        // One that is not kept here may be the room's own.
        self.room.unwatch(uri, cx);
    }

    fn roots_changed(&self, cx: Context) {
        self.room.roots_changed(cx);
    }

    fn prompt(&self, name: &str, arguments: BTreeMap<String, String>, cx: Context) -> Work<Members> {
        self.room.prompt(name, arguments, cx)
    }

    fn complete(&self, wanted: Completion, cx: Context) -> Work<Members> {
        self.room.complete(wanted, cx)
    }

    fn behind(&self, target: &str) -> Option<Box<str>> {
        if is_kept_address(target) { Some(SHELF_SERVER.into()) } else { self.room.behind(target) }
    }

    fn has_others(&self) -> bool {
        self.room.has_others()
    }

    fn own_tool(&self, tool: &str, caller: &Caller) -> Option<(Box<str>, Box<str>)> {
        self.room.own_tool(tool, caller)
    }
}

/// The room's own pages first, then those of the shelf.
async fn resources(
    room: Option<Arc<dyn Room>>,
    desk: ShelfDesk,
    cursor: Option<String>,
    cx: Context,
) -> Result<Page, Fault> {
    let caller = cx.client().caller.clone();
    if let Some(after) = cursor.as_deref().and_then(|cursor| cursor.strip_prefix(CURSOR)) {
        return with_kept(empty(List::Resources), &desk, Some(after.to_owned()), &caller).await;
    }
    let page = match room {
        Some(room) => room.list(List::Resources, cursor, cx).await?,
        None if cursor.is_some() => return Err(Fault::new(&reason::MCP_BAD_CURSOR)),
        None => empty(List::Resources),
    };
    let has_more = page.members.raw().as_object().is_some_and(|members| members.get("nextCursor").is_some());
    if has_more { Ok(page) } else { with_kept(page, &desk, None, &caller).await }
}

/// A page with what of the shelf this caller sees behind it.
async fn with_kept(
    page: Page,
    desk: &ShelfDesk,
    after: Option<String>,
    caller: &Caller,
) -> Result<Page, Fault> {
    let found = desk.shelf().list(Wanted { after, ..Wanted::default() }).await?;
    let seen = found.items.iter().filter(|kept| desk.reveal(caller, &kept.uri).is_ok());
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

/// A page with more items at its end.
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

/// The contents as MCP has them: text as it is, anything else in base64.
async fn contents(fetched: Fetched, limit: usize) -> Result<Members, Fault> {
    // In base64 it would be larger still; the exact measure is taken of the whole answer.
    if fetched.kept.size > limit as u64 {
        return Err(Fault::new(&reason::SERVER_TOO_LARGE).fact("limit", limit));
    }
    let (kept, bytes) = whole(fetched).await?;
    let contents = match text_of(&kept, bytes) {
        Ok(text) => ResourceContents::text(kept.uri, kept.media_type, text),
        Err(bytes) => ResourceContents::blob(kept.uri, kept.media_type, STANDARD.encode(bytes)),
    };
    Members::of(&json!({"contents": [contents]}))
}

/// All bytes of a resource.
pub(crate) async fn whole(mut fetched: Fetched) -> Result<(Kept, Vec<u8>), Fault> {
    let mut bytes = Vec::with_capacity(usize::try_from(fetched.kept.size).unwrap_or(0));
    while let Some(piece) = fetched.piece().await? {
        bytes.extend_from_slice(&piece);
    }
    Ok((fetched.kept, bytes))
}

/// Bytes as the text they are said to be, if they are.
pub(crate) fn text_of(kept: &Kept, bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    match is_text(kept.media_type) {
        true => String::from_utf8(bytes).map_err(|error| error.into_bytes()),
        false => Err(bytes),
    }
}
