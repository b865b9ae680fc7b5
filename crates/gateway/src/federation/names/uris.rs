//! Rewrites URIs in results, so that callers can use them unchanged.

use std::borrow::Cow;

use failwell_rpc::{Era, Json, Object, Raw};
use failwell_toolbox::{Event, Members};
use memchr::memmem;
use serde_json::Value;

use crate::federation::catalogue::Entry;
use crate::federation::names::outside_uri;

pub(crate) fn in_contents(server: &str, found: Members) -> Members {
    in_items(server, found, "contents", rename)
}

/// Rewrites embedded resources and resource links in a tool result.
pub(crate) fn in_content(server: &str, found: Members) -> Members {
    // Most results have no resources and are forwarded unchanged.
    if memmem::find(found.members.text().as_bytes(), b"\"resource").is_none() {
        return found;
    }
    in_items(server, found, "content", |server, item| {
        let object = item.as_object()?;
        match object.get("type")?.as_str()?.as_ref() {
            "resource_link" => rename(server, item),
            "resource" => Some(object.replacing("resource", rename(server, object.get("resource")?)?.raw())),
            _ => None,
        }
    })
}

/// The definition of an item with the address of its user interface (MCP Apps) as callers of `/mcp` use it.
pub(crate) fn in_definition(entry: &Entry, era: Era) -> Cow<'_, Json> {
    let definition = entry.definition_for(era);
    // Few tools have a user interface.
    let has_address = memmem::find(definition.text().as_bytes(), b"resourceUri").is_some();
    let mapped = has_address.then(|| with_address(&entry.server, definition)).flatten();
    mapped.map_or(Cow::Borrowed(definition), Cow::Owned)
}

fn with_address(server: &str, definition: &Json) -> Option<Json> {
    let object = definition.raw().as_object()?;
    let meta = object.get("_meta")?.as_object()?;
    let flat = rename_member(server, meta, FLAT_ADDRESS);
    let meta = flat.as_ref().map_or(Some(meta), |flat| flat.raw().as_object())?;
    let ui = meta.get("ui").and_then(Raw::as_object).and_then(|ui| rename_member(server, ui, "resourceUri"));
    let nested = ui.map(|ui| meta.replacing("ui", ui.raw()));
    Some(object.replacing("_meta", nested.or_else(|| flat.clone())?.raw()))
}

/// The member of `_meta` that held the address before `ui.resourceUri` did.
const FLAT_ADDRESS: &str = "ui/resourceUri";

/// The params of a notification, with the URI of the event.
pub(crate) fn in_event(kind: &Event, params: &Json) -> Json {
    match (kind, params.raw().as_object()) {
        (Event::ResourceUpdated(uri), Some(object)) => {
            object.replacing("uri", Json::from(&Value::from(&**uri)).raw())
        }
        _ => params.clone(),
    }
}

fn in_items(
    server: &str,
    found: Members,
    member: &str,
    renamed: impl Fn(&str, Raw<'_>) -> Option<Json>,
) -> Members {
    let items = found.members.get(member).and_then(Raw::as_array);
    let Some(items) = items else { return found };
    let items: Vec<Json> =
        items.map(|item| renamed(server, item).unwrap_or_else(|| item.to_json())).collect();
    let list = Json::of(&items).unwrap_or_else(|_| Json::empty_object());
    Members { members: found.members.object().replacing(member, list.raw()).into(), ..found }
}

fn rename(server: &str, item: Raw<'_>) -> Option<Json> {
    rename_member(server, item.as_object()?, "uri")
}

fn rename_member(server: &str, object: Object<'_>, member: &str) -> Option<Json> {
    let outside = outside_uri(server, &object.get(member)?.as_str()?);
    Some(object.replacing(member, Json::from(&Value::String(outside)).raw()))
}
