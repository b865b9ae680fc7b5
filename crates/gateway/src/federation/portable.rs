//! Tool definitions that every client accepts. A client that rejects one definition drops the whole list, including
//! other servers' tools. Definitions are therefore normalized, and those that cannot be are omitted.

mod item;
mod name;

use std::borrow::Cow;
use std::collections::HashSet;

use failwell_fault::{Fault, OrFault, reason};
use failwell_rpc::{Era, Json, Kind, Object, Raw};
use failwell_toolbox::{Context, List, MemberChange, Page, is_usable_schema, portable_schema};
use parking_lot::Mutex;
use serde_json::Value;

use crate::federation::Federation;
use crate::federation::catalogue::FetchedList;
use crate::federation::member::Member;
use crate::federation::names::naming_member;
use crate::federation::portable::item::portable_item;
use crate::federation::portable::name::portable_name;

/// The longest name in a note, in characters.
const LONGEST_NOTED: usize = 200;

/// Reported notes that are remembered; beyond it, they are reported again.
const MOST_REPORTED: usize = 1_000;

/// Larger output schemas are not compiled, because lists are fetched while calls run.
const LARGEST_COMPILED: usize = 64 * 1024;

/// The schema of a tool without one: it accepts every object.
const ANY_OBJECT: &str = r#"{"type":"object"}"#;

/// A normalized definition.
#[derive(Debug)]
pub(crate) struct PortableDefinition {
    /// The name or URI in it.
    pub(crate) name: String,
    pub(crate) definition: Json,
    /// For clients of the session era, if different: there, structured results must be objects.
    pub(crate) session: Option<Json>,
}

/// Notes about lists that were reported, so that the operator reads each one once.
#[derive(Debug, Default)]
pub(crate) struct ListNotes(Mutex<HashSet<String>>);

impl ListNotes {
    pub(crate) fn report(&self, note: String, cx: &Context) {
        let is_new = {
            let mut reported = self.0.lock();
            if reported.len() >= MOST_REPORTED {
                reported.clear();
            }
            reported.insert(note.clone())
        };
        if is_new {
            cx.report(Fault::new(&reason::GATEWAY_UPSTREAM_GARBLED).note("unlisted", note));
        }
    }
}

/// How an item of a list is called in notes. A name may have any length and invisible characters.
fn shown_item(member: &Member, list: List, item: &Json) -> String {
    let kind = match list {
        List::Tools => "tool",
        List::Prompts => "prompt",
        List::Resources => "resource",
        List::Templates => "template",
    };
    let named = item.raw().as_object().and_then(|item| item.get(naming_member(list)));
    let name: String = named.and_then(Raw::as_str).unwrap_or_default().chars().take(LONGEST_NOTED).collect();
    let name =
        if name.chars().all(|c| c.is_ascii_graphic()) { name } else { name.escape_unicode().to_string() };
    format!("the {kind} {name} of {}", member.name())
}

impl PortableDefinition {
    fn of_era(&self, era: Era) -> &Json {
        let session = self.session.as_ref().filter(|_| era == Era::Session);
        session.unwrap_or(&self.definition)
    }
}

impl Federation {
    /// Normalizes the items of a list. `None` stands for an omitted item, which is reported once.
    pub(crate) fn portable(
        &self,
        member: &Member,
        list: List,
        items: &[Json],
        cx: &Context,
    ) -> Vec<Option<PortableDefinition>> {
        let mut names = HashSet::new();
        let mut one = |item: &Json| {
            let made = portable(list, item).and_then(|made| match is_twin(list, &made, &mut names) {
                true => Err("another one has the same name"),
                false => Ok(made),
            });
            let shown = || shown_item(member, list, item);
            match &made {
                Err(why) => self.notes.report(format!("{} is left out of lists: {why}", shown()), cx),
                Ok(made) if list == List::Tools && is_renamed(item, made) => {
                    let why = "clients reject its own name";
                    self.notes.report(format!("{} is listed as {}: {why}", shown(), made.name), cx);
                }
                Ok(_) => {}
            }
            made.ok()
        };
        items.iter().map(&mut one).collect()
    }
}

/// Clients and models cannot tell two items of one name apart, so the first one counts.
fn is_twin(list: List, made: &PortableDefinition, names: &mut HashSet<String>) -> bool {
    matches!(list, List::Tools | List::Prompts) && !names.insert(made.name.clone())
}

fn is_renamed(item: &Json, made: &PortableDefinition) -> bool {
    let name = item.raw().as_object().and_then(|item| item.get("name")?.as_str());
    name.is_some_and(|name| name != made.name)
}

/// A page for clients of this era, without quarantined and omitted items.
pub(crate) fn page_for(page: Page, list: List, fresh: &FetchedList<'_>, era: Era) -> Result<Page, Fault> {
    let free = fresh.shown.iter().enumerate().filter(|(place, _)| !fresh.quarantined.contains(place));
    let shown: Vec<&Json> = free.filter_map(|(_, item)| Some(item.as_ref()?.of_era(era))).collect();
    if shown.iter().copied().eq(fresh.items) {
        return Ok(page);
    }
    let shown = Json::of(&shown).or_fault(&reason::SERVER_BUG)?;
    let object = page.members.raw().as_object().or_fault(&reason::SERVER_BUG)?;
    Ok(Page { members: object.replacing(list.member(), shown.raw()), ..page })
}

/// Normalizes one item, or says why clients would reject it.
fn portable(list: List, item: &Json) -> Result<PortableDefinition, &'static str> {
    if list != List::Tools {
        return portable_item(list, item);
    }
    let tool = item.raw().as_object().ok_or("it is no object")?;
    let own = tool.get("name").and_then(Raw::as_str).ok_or("it has no name")?;
    let name = portable_name(&own).ok_or("its name is empty")?;
    let new_name = match &name {
        Cow::Borrowed(_) => MemberChange::None,
        Cow::Owned(name) => MemberChange::To(Json::from(&Value::from(name.as_str()))),
    };
    check_words(tool)?;
    let input = input_schema(tool.get("inputSchema"))?;
    let (output, session_output) = output_schema(tool.get("outputSchema"));
    let gone: Vec<&str> = nulls(tool, &OPTIONAL).collect();
    let annotations = tool.get("annotations").and_then(Raw::as_object).and_then(without_nulls);
    let edit = |output: &MemberChange| {
        let mut edited: Option<Json> = None;
        let mut apply = |name: &str, change: &MemberChange| {
            let object = edited.as_ref().unwrap_or(item).raw().as_object();
            let after = object.and_then(|object| changed(object, name, change));
            edited = after.or(edited.take());
        };
        gone.iter().for_each(|name| apply(name, &MemberChange::Gone));
        apply("name", &new_name);
        apply("annotations", &MemberChange::of(annotations.clone()));
        apply("inputSchema", &input);
        apply("outputSchema", output);
        edited
    };
    let definition = edit(&output).unwrap_or_else(|| item.clone());
    let session = session_output.and_then(|output| edit(&output));
    Ok(PortableDefinition { name: name.into_owned(), definition, session })
}

/// Applies a change to one member of an object; `None` if nothing changes.
fn changed(object: Object<'_>, name: &str, change: &MemberChange) -> Option<Json> {
    match (change, object.get(name)) {
        (MemberChange::None, _) | (MemberChange::Gone, None) => None,
        (MemberChange::Gone, Some(_)) => object.without(&[name]),
        (MemberChange::To(value), Some(_)) => Some(object.replacing(name, value.raw())),
        (MemberChange::To(value), None) => Some(with_member(object, name, value.raw())),
    }
}

pub(crate) fn with_member(object: Object<'_>, name: &str, value: Raw<'_>) -> Json {
    let members: Vec<(Cow<'_, str>, Raw<'_>)> = object.iter().collect();
    let members = members.iter().map(|(name, value)| (name.as_ref(), *value));
    Json::object(members.chain([(name, value)]))
}

/// Optional members: `null` is treated as absent.
const OPTIONAL: [&str; 7] =
    ["title", "description", "outputSchema", "annotations", "icons", "execution", "_meta"];

pub(super) fn nulls<'a>(
    item: Object<'a>,
    optional: &'static [&'static str],
) -> impl Iterator<Item = &'static str> + use<'a> {
    optional.iter().copied().filter(move |name| item.get(name).is_some_and(Raw::is_null))
}

fn without_nulls(object: Object<'_>) -> Option<Json> {
    let has_nulls = object.iter().any(|(_, value)| value.is_null());
    let members: Vec<(Cow<'_, str>, Raw<'_>)> = object.iter().collect();
    let kept = members.iter().filter(|(_, value)| !value.is_null());
    has_nulls.then(|| Json::object(kept.map(|(name, value)| (name.as_ref(), *value))))
}

/// Checks everything in a definition except its schemas.
fn check_words(tool: Object<'_>) -> Result<(), &'static str> {
    is_or_absent(tool, "title", Kind::String, "its title is no text")?;
    is_or_absent(tool, "description", Kind::String, "its description is no text")?;
    is_or_absent(tool, "_meta", Kind::Object, "its _meta is no object")?;
    is_or_absent(tool, "annotations", Kind::Object, "its annotations are no object")?;
    is_or_absent(tool, "execution", Kind::Object, "its execution is no object")?;
    is_or_absent(tool, "icons", Kind::Array, "its icons are no list")?;
    if let Some(annotations) = tool.get("annotations").and_then(Raw::as_object) {
        is_or_absent(annotations, "title", Kind::String, "the title of its annotations is no text")?;
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            is_or_absent(annotations, hint, Kind::Bool, "a hint of its annotations is no boolean")?;
        }
    }
    let support = tool.get("execution").and_then(Raw::as_object).and_then(|all| all.get("taskSupport"));
    if let Some(support) = support
        && !support.as_str().is_some_and(|word| ["required", "optional", "forbidden"].contains(&&*word))
    {
        return Err("its taskSupport is none of required, optional, forbidden");
    }
    let mut icons = tool.get("icons").and_then(Raw::as_array).into_iter().flatten();
    if icons.all(is_icon) { Ok(()) } else { Err("one of its icons is none") }
}

fn is_icon(icon: Raw<'_>) -> bool {
    let Some(icon) = icon.as_object() else { return false };
    let is_text = |name| icon.get(name).is_none_or(|value| value.kind() == Kind::String);
    let sizes = icon.get("sizes").map(|sizes| sizes.as_array().is_some_and(are_texts));
    let theme = icon.get("theme").and_then(Raw::as_str).map(|theme| theme == "light" || theme == "dark");
    icon.get("src").is_some()
        && is_text("src")
        && is_text("mimeType")
        && is_text("theme")
        && sizes != Some(false)
        && theme != Some(false)
}

fn are_texts<'a>(mut all: impl Iterator<Item = Raw<'a>>) -> bool {
    all.all(|one| one.kind() == Kind::String)
}

pub(super) fn is_or_absent(
    object: Object<'_>,
    name: &str,
    kind: Kind,
    why: &'static str,
) -> Result<(), &'static str> {
    match object.get(name) {
        Some(value) if !value.is_null() && value.kind() != kind => Err(why),
        _ => Ok(()),
    }
}

/// The change that makes the input schema describe an object.
fn input_schema(schema: Option<Raw<'_>>) -> Result<MemberChange, &'static str> {
    match schema.filter(|schema| !schema.is_null() && schema.as_bool() != Some(true)) {
        None => Ok(MemberChange::To(Raw::written(ANY_OBJECT).to_json())),
        Some(schema) => of_an_object(schema).map_err(|why| match why {
            SchemaError::Type => "its inputSchema is not that of an object",
            SchemaError::Shape => "properties or required of its inputSchema are of the wrong kind",
        }),
    }
}

/// The changes of the output schema for modern and, if different, for session-era clients. An invalid schema is
/// removed, because output schemas are optional.
fn output_schema(schema: Option<Raw<'_>>) -> (MemberChange, Option<MemberChange>) {
    let Some(schema) = schema else { return (MemberChange::None, None) };
    let Some(object) = schema.as_object() else { return (MemberChange::Gone, None) };
    if !is_usable(schema) {
        return (MemberChange::Gone, None);
    }
    let is_same = object.get("type").and_then(Raw::as_str).is_some_and(|name| name == "object");
    match of_an_object(schema) {
        Ok(change) if is_same => (change, None),
        Ok(change) => (MemberChange::of(portable_schema(schema)), Some(change)),
        Err(_) => (MemberChange::of(portable_schema(schema)), Some(MemberChange::Gone)),
    }
}

/// Clients compile output schemas while they list tools; a schema that does not compile breaks the whole list.
fn is_usable(schema: Raw<'_>) -> bool {
    schema.text().len() > LARGEST_COMPILED || schema.parse().is_ok_and(|schema| is_usable_schema(&schema))
}

enum SchemaError {
    Type,
    Shape,
}

/// The change that gives a schema `"type": "object"`.
fn of_an_object(schema: Raw<'_>) -> Result<MemberChange, SchemaError> {
    let portable = portable_schema(schema);
    let now = portable.as_ref().map_or(schema, Json::raw).as_object().ok_or(SchemaError::Type)?;
    let is_object = |name: Raw<'_>| name.as_str().is_some_and(|name| name == "object");
    let typed = match now.get("type") {
        None => Some(with_member(now, "type", Raw::written("\"object\""))),
        Some(name) if is_object(name) => None,
        Some(names) if names.as_array().is_some_and(|mut names| names.any(is_object)) => {
            Some(now.replacing("type", Raw::written("\"object\"")))
        }
        Some(_) => return Err(SchemaError::Type),
    };
    let properties = now.get("properties").map(|all| {
        all.as_object().is_some_and(|all| {
            all.iter().all(|(_, schema)| matches!(schema.kind(), Kind::Object | Kind::Array))
        })
    });
    let required = now.get("required").map(|all| all.as_array().is_some_and(are_texts));
    if properties == Some(false) || required == Some(false) {
        return Err(SchemaError::Shape);
    }
    Ok(MemberChange::of(typed.or(portable)))
}
