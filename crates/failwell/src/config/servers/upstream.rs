//! One `[[upstream]]`.

mod target;

use std::collections::BTreeMap;
use std::time::Duration;

use failwell_controls::SHELF_SERVER;
use failwell_gateway::{SessionSharing, ToolErrors};

use self::target::target;
pub(in crate::config) use self::target::{
    address_at, authorities, headers, is_exposed, plain, program, strangers,
};
use crate::config::Builtin;
use crate::config::keys::{
    IDLE_STOP, LIST_WAIT, MAX_MESSAGE_BYTES, MAX_SESSIONS, RESTART_BUDGET, RESTART_WINDOW, START_TIMEOUT,
    TIMEOUT,
};
use crate::config::parse::names::is_upstream;
use crate::config::parse::reader::{Reader, Section};
use crate::config::settings::{Restart, UpstreamConfig};

pub(in crate::config) fn read_all(reader: &mut Reader<'_>, root: &Section<'_>) -> Vec<UpstreamConfig> {
    let mut lines = BTreeMap::new();
    let sections = reader.tables(root, "upstream");
    sections.iter().map(|section| read(reader, section, &mut lines)).collect()
}

fn read(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    lines: &mut BTreeMap<String, usize>,
) -> UpstreamConfig {
    UpstreamConfig {
        name: name(reader, section, lines),
        target: target(reader, section),
        sharing: match reader.choice(section, "sessions") {
            Some("per_caller") => Some(SessionSharing::PerCaller),
            Some(_) => Some(SessionSharing::Shared),
            None => None,
        },
        max_sessions: usize::try_from(reader.number(section, &MAX_SESSIONS)).unwrap_or(usize::MAX),
        timeout: Duration::from_secs(reader.number(section, &TIMEOUT)),
        start_timeout: Duration::from_secs(reader.number(section, &START_TIMEOUT)),
        list_wait: Duration::from_secs(reader.number(section, &LIST_WAIT)),
        lazy: reader.flag(section, "lazy").unwrap_or(false),
        idle_stop: Some(reader.number(section, &IDLE_STOP)).filter(|s| *s > 0).map(Duration::from_secs),
        max_message_bytes: usize::try_from(reader.number(section, &MAX_MESSAGE_BYTES)).unwrap_or(usize::MAX),
        restart: restart(reader, section),
        trusted_errors: reader.flag(section, "trusted_errors").unwrap_or(false),
        errors: reader.choice(section, "errors").and_then(ToolErrors::parse).unwrap_or_default(),
        instructions: reader.flag(section, "instructions").unwrap_or(true),
    }
}

/// The name. It must be unique among upstreams and built-in servers.
fn name(reader: &mut Reader<'_>, section: &Section<'_>, lines: &mut BTreeMap<String, usize>) -> String {
    if !section.has("name") {
        let help = "add name = \"…\": lowercase letters, digits, - and _";
        reader.missing(section, "name", "the upstream has no name", help);
    }
    let Some(found) = reader.text(section, "name") else { return String::new() };
    let name = found.value;
    if !is_upstream(&name) {
        let help =
            "use lowercase letters, digits, - and single _, beginning with a letter and not ending in _";
        reader.wrong(&found.span, &found.key, "this cannot be the name of an upstream", help);
    } else if Builtin::named(&name).is_some() {
        let message = format!("`{name}` is the name of a built-in server");
        reader.wrong(&found.span, &found.key, message, "choose another name");
    } else if name == SHELF_SERVER {
        let message = format!("`{name}` is reserved for stored files");
        reader.wrong(&found.span, &found.key, message, "choose another name");
    } else if let Some(line) = lines.get(&name) {
        let message = format!("`{name}` is the name of two upstreams");
        reader.wrong(&found.span, &found.key, message, format!("rename one; the other is on line {line}"));
    } else {
        lines.insert(name.clone(), reader.source.line(found.span.start));
    }
    name
}

pub(in crate::config) fn restart(reader: &mut Reader<'_>, section: &Section<'_>) -> Restart {
    let (budget, window) = match reader.table(section, "restart") {
        Some(inner) => (reader.number(&inner, &RESTART_BUDGET), reader.number(&inner, &RESTART_WINDOW)),
        None => (RESTART_BUDGET.default, RESTART_WINDOW.default),
    };
    Restart { budget: u32::try_from(budget).unwrap_or(u32::MAX), window: Duration::from_secs(window) }
}
