//! The transport of an upstream: `command` or `url`, never both.

mod address;
mod auth;

use std::collections::BTreeMap;
use std::path::PathBuf;

use failwell_fault::Secret;
use failwell_gateway::HttpTransport;

pub(in crate::config) use self::address::address_at;
use self::address::{address, check_header};
use self::auth::auth;
pub(in crate::config) use self::auth::{authorities, is_exposed, plain};
use crate::config::parse::names::{is_header, is_variable};
use crate::config::parse::reader::{Reader, Section};
use crate::config::settings::Target;

pub(super) fn target(reader: &mut Reader<'_>, section: &Section<'_>) -> Target {
    match (section.has("command"), section.has("url")) {
        (true, true) => reader.wrong(
            &section.key_span("url"),
            &section.path("url"),
            "the upstream has both `command` and `url`",
            "keep `command` for a program to start, or `url` for a server that already runs",
        ),
        (false, false) => reader.missing(
            section,
            "command",
            "the upstream has neither `command` nor `url`",
            "add command = [\"program\", \"argument\"] or url = \"https://…\"",
        ),
        (true, false) => {
            strangers(reader, section, ("command", "url"), &["headers", "transport", "ca_file", "auth"]);
        }
        (false, true) => strangers(reader, section, ("url", "command"), &["cwd", "env", "env_pass"]),
    }
    let (command, url) = (command(reader, section), address(reader, section));
    let (headers, ca) = (headers(reader, section), authorities(reader, section));
    let auth = auth(reader, section, &headers).map(Box::new);
    let wire = match reader.choice(section, "transport") {
        Some("sse") => HttpTransport::Sse,
        Some(_) => HttpTransport::Streamable,
        None => HttpTransport::Detect,
    };
    match url {
        Some(url) if command.is_none() => Target::Url { url, wire, headers, ca, auth },
        _ => of_words(reader, section, command.unwrap_or_default()),
    }
}

/// Reports keys that belong to the other transport and would have no effect.
pub(in crate::config) fn strangers(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    (is, other): (&str, &str),
    names: &[&str],
) {
    for name in names.iter().filter(|name| section.has(name)) {
        let message = format!("`{name}` has no effect with `{is}`");
        let help = format!("remove it: it goes with `{other}`");
        reader.wrong(&section.key_span(name), &section.path(name), message, help);
    }
}

fn command(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<Vec<String>> {
    let words = reader.texts(section, "command")?;
    let help = "name the program first: command = [\"program\", \"argument\"]";
    if words.first().is_none_or(|program| program.value.trim().is_empty()) {
        let span = words.first().map_or_else(|| section.key_span("command"), |program| program.span.clone());
        // A first item of the wrong type already has a problem.
        if !words.is_empty() || !reader.is_noted(&section.path("command")) {
            reader.wrong(&span, &section.path("command"), "`command` has no program", help);
        }
    }
    for word in words.iter().filter(|word| word.value.contains('\0')) {
        reader.wrong(&word.span, &word.key, "`command` has a NUL character", "remove it");
    }
    Some(words.into_iter().map(|word| word.value).collect())
}

/// Reads a command with its environment and folder.
pub(in crate::config) fn program(reader: &mut Reader<'_>, section: &Section<'_>) -> Target {
    let words = command(reader, section).unwrap_or_default();
    of_words(reader, section, words)
}

fn of_words(reader: &mut Reader<'_>, section: &Section<'_>, mut words: Vec<String>) -> Target {
    let program = if words.is_empty() { String::new() } else { words.remove(0) };
    let named = reader.texts(section, "env_pass");
    for name in named.iter().flatten().filter(|name| !is_variable(&name.value)) {
        let help = "use letters, digits and underscores, such as \"PATH\"";
        reader.wrong(&name.span, &name.key, "this cannot be the name of a variable", help);
    }
    Target::Command {
        program,
        arguments: words,
        cwd: folder(reader, section),
        env: env(reader, section),
        env_pass: named.map_or_else(usual, |names| names.into_iter().map(|name| name.value).collect()),
    }
}

/// The environment variables that are passed by default: hardly any program works without them.
fn usual() -> Vec<String> {
    ["PATH", "HOME"].map(str::to_owned).to_vec()
}

fn folder(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<PathBuf> {
    let text = reader.text(section, "cwd")?;
    let path = reader.folder.join(&text.value);
    if text.value.is_empty() || !path.is_dir() {
        let help = "name a folder that exists; relative paths start at the folder of this file";
        reader.wrong(&text.span, &text.key, "`cwd` is not a folder", help);
    }
    Some(path)
}

fn env(reader: &mut Reader<'_>, section: &Section<'_>) -> BTreeMap<String, Secret<String>> {
    let mut env = BTreeMap::new();
    for pair in reader.pairs(section, "env") {
        if !is_variable(&pair.name.value) {
            let help = "use letters, digits and underscores";
            reader.wrong(&pair.name.span, &pair.name.key, "this cannot be the name of a variable", help);
        }
        let Some(value) = reader.filled(&pair.value) else { continue };
        if value.contains('\0') {
            reader.wrong(&pair.value.span, &pair.value.key, "the value has a NUL character", "remove it");
        }
        env.insert(pair.name.value, Secret::new(value));
    }
    env
}

pub(in crate::config) fn headers(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
) -> BTreeMap<String, Secret<String>> {
    let mut headers = BTreeMap::new();
    for pair in reader.pairs(section, "headers") {
        let name = pair.name.value.to_ascii_lowercase();
        if !is_header(&name) {
            let help = "use letters, digits and dashes";
            reader.wrong(&pair.name.span, &pair.name.key, "this cannot be the name of a header", help);
        } else if headers.contains_key(&name) {
            let help = "remove one: header names are case-insensitive";
            reader.wrong(&pair.name.span, &pair.name.key, "this header occurs twice", help);
        }
        let Some(value) = reader.filled(&pair.value) else { continue };
        check_header(reader, &name, &value, &pair);
        headers.insert(name, Secret::new(value));
    }
    headers
}
