//! One server of a client's file.

use serde_json::{Map, Value};

/// A server as a client describes it.
#[derive(Debug)]
pub(crate) struct ClientServer {
    pub(crate) name: String,
    /// `None` if the entry has neither a command nor an address.
    pub(crate) launch: Option<Launch>,
    pub(crate) is_disabled: bool,
    /// Members that have no counterpart here.
    pub(crate) left_out: Vec<String>,
}

/// How the client reaches a server.
#[derive(Debug)]
pub(crate) enum Launch {
    Command { words: Vec<String>, env: Vec<(String, String)>, cwd: Option<String> },
    Url { url: String, headers: Vec<(String, String)>, is_sse: bool },
}

/// Members that need no counterpart: defaults, and what belongs to the client's own pages.
const UNIMPORTANT: [&str; 8] =
    ["type", "transport", "source", "name", "description", "gallery", "version", "disabled"];
const COMMAND: [&str; 4] = ["command", "args", "env", "cwd"];
const URL: [&str; 4] = ["url", "serverUrl", "httpUrl", "headers"];

pub(crate) fn read_entry(name: &str, entry: &Value) -> ClientServer {
    let empty = Map::new();
    let members = entry.as_object().unwrap_or(&empty);
    let flag = |name: &str| members.get(name).and_then(Value::as_bool);
    let launch = command(members).or_else(|| url(members));
    let used: &[&str] = match &launch {
        Some(Launch::Command { .. }) => &COMMAND,
        Some(Launch::Url { .. }) => &URL,
        None => &[],
    };
    let is_known = |name: &str| used.contains(&name) || UNIMPORTANT.contains(&name) || name == "enabled";
    ClientServer {
        name: name.to_owned(),
        launch,
        is_disabled: flag("disabled") == Some(true) || flag("enabled") == Some(false),
        left_out: members.keys().filter(|name| !is_known(name)).cloned().collect(),
    }
}

fn command(members: &Map<String, Value>) -> Option<Launch> {
    let command = members.get("command")?;
    // Zed once had a table for the whole command.
    let inner = command.as_object();
    let part = |name: &str| inner.and_then(|inner| inner.get(name)).or_else(|| members.get(name));
    let first = match inner {
        Some(inner) => vec![inner.get("path")?.as_str()?.to_owned()],
        None => texts(Some(command)),
    };
    let words: Vec<String> = first.into_iter().chain(texts(part("args"))).collect();
    words.first().filter(|program| !program.trim().is_empty())?;
    let cwd = part("cwd").and_then(Value::as_str).map(str::to_owned);
    Some(Launch::Command { words, env: pairs(part("env")), cwd })
}

fn url(members: &Map<String, Value>) -> Option<Launch> {
    let of = |name: &str| members.get(name).and_then(Value::as_str);
    let url = of("httpUrl").or_else(|| of("serverUrl")).or_else(|| of("url"))?;
    let is_sse = of("type").or_else(|| of("transport")) == Some("sse");
    Some(Launch::Url { url: url.to_owned(), headers: pairs(members.get("headers")), is_sse })
}

/// A text, or the texts of a list.
fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(text).collect(),
        Some(value) => text(value).into_iter().collect(),
        None => Vec::new(),
    }
}

fn pairs(value: Option<&Value>) -> Vec<(String, String)> {
    let members = value.and_then(Value::as_object).into_iter().flatten();
    members.filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect()
}

/// A value as text. Clients write numbers and flags as they are.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
