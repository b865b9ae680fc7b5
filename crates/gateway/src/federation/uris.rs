//! Rewrites URIs in results, so that callers can use them unchanged.

use failwell_rpc::{Json, Raw};
use failwell_toolbox::{Event, Members};
use memchr::memmem;
use serde_json::Value;

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
    let object = item.as_object()?;
    let outside = outside_uri(server, &object.get("uri")?.as_str()?);
    Some(object.replacing("uri", Json::from(&Value::String(outside)).raw()))
}
