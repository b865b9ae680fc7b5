//! Prompts, resources and templates that every client accepts.

use failwell_rpc::{Json, Kind, Object, Raw};
use failwell_toolbox::List;
use serde_json::Value;

use crate::federation::names::naming_member;
use crate::federation::portable::{PortableDefinition, is_or_absent, nulls, with_member};

const TEXTS: [&str; 3] = ["title", "description", "mimeType"];
const OPTIONAL: [&str; 8] =
    ["title", "description", "mimeType", "annotations", "icons", "size", "arguments", "_meta"];

/// Normalizes one item, or says why clients would reject it.
pub(super) fn portable_item(list: List, item: &Json) -> Result<PortableDefinition, &'static str> {
    let object = item.raw().as_object().ok_or("it is no object")?;
    let name = object.get(naming_member(list)).and_then(Raw::as_str).ok_or("it has no name or address")?;
    if name.is_empty() {
        return Err("its name or address is empty");
    }
    for text in TEXTS {
        is_or_absent(object, text, Kind::String, "its title, description or mimeType is no text")?;
    }
    is_or_absent(object, "_meta", Kind::Object, "its _meta is no object")?;
    is_or_absent(object, "annotations", Kind::Object, "its annotations are no object")?;
    is_or_absent(object, "icons", Kind::Array, "its icons are no list")?;
    if list == List::Prompts {
        are_arguments(object)?;
    }
    let gone: Vec<&str> = nulls(object, &OPTIONAL).collect();
    let plain = if gone.is_empty() { None } else { object.without(&gone) };
    let definition = plain.unwrap_or_else(|| item.clone());
    Ok(PortableDefinition {
        name: name.clone().into_owned(),
        definition: named(list, definition, &name)?,
        session: None,
    })
}

/// A resource has a name besides its address. One without gets its address as name.
fn named(list: List, definition: Json, address: &str) -> Result<Json, &'static str> {
    if list == List::Prompts {
        return Ok(definition);
    }
    let object = definition.raw().as_object().ok_or("it is no object")?;
    let name = Json::from(&Value::from(address));
    match object.get("name") {
        Some(known) if known.kind() == Kind::String => Ok(definition),
        Some(known) if known.is_null() => Ok(object.replacing("name", name.raw())),
        Some(_) => Err("its name is no text"),
        None => Ok(with_member(object, "name", name.raw())),
    }
}

fn are_arguments(prompt: Object<'_>) -> Result<(), &'static str> {
    is_or_absent(prompt, "arguments", Kind::Array, "its arguments are no list")?;
    let mut all = prompt.get("arguments").and_then(Raw::as_array).into_iter().flatten();
    let is_argument = |argument: Raw<'_>| {
        argument.as_object().is_some_and(|argument| {
            argument.get("name").is_some_and(|name| name.kind() == Kind::String)
                && is_or_absent(argument, "description", Kind::String, "").is_ok()
                && is_or_absent(argument, "required", Kind::Bool, "").is_ok()
        })
    };
    if all.all(is_argument) { Ok(()) } else { Err("one of its arguments is none") }
}
