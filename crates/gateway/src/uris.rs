//! Addresses in results: a caller must be able to use them as they are.

use failwell_rpc::{Json, Raw};
use failwell_server::Members;
use serde_json::Value;

use crate::gateway::replaced;
use crate::names::outside_uri;

/// The contents of a resource, under outside addresses.
pub(crate) fn in_contents(server: &str, found: Members) -> Members {
    in_items(server, found, "contents", rename)
}

/// The content of a tool's result: embedded resources and links, under outside addresses.
pub(crate) fn in_content(server: &str, found: Members) -> Members {
    // Most results have none, and are passed on as they are.
    if !found.members.text().contains("\"resource") {
        return found;
    }
    in_items(server, found, "content", |server, item| {
        let object = item.as_object()?;
        match object.get("type")?.as_str()?.as_ref() {
            "resource_link" => rename(server, item),
            "resource" => replaced(item, "resource", &rename(server, object.get("resource")?)?),
            _ => None,
        }
    })
}

fn in_items(
    server: &str,
    found: Members,
    member: &str,
    renamed: impl Fn(&str, Raw<'_>) -> Option<Json>,
) -> Members {
    let items = found.members.raw().as_object().and_then(|object| object.get(member)).and_then(Raw::as_array);
    let Some(items) = items else { return found };
    let items: Vec<Json> =
        items.map(|item| renamed(server, item).unwrap_or_else(|| item.to_json())).collect();
    let list = Json::of(&items).unwrap_or_else(|_| Json::empty_object());
    match replaced(found.members.raw(), member, &list) {
        Some(members) => Members { members, meta: found.meta },
        None => found,
    }
}

fn rename(server: &str, item: Raw<'_>) -> Option<Json> {
    let uri = item.as_object()?.get("uri")?.as_str()?;
    let outside = Json::of(&Value::String(outside_uri(server, &uri))).ok()?;
    replaced(item, "uri", &outside)
}
