//! `[approval]` and `[pin]`.

use std::time::Duration;

use failwell_consent::{NewTools, PinAction, PinSettings};
use failwell_policy::Whom;
use failwell_server::Terms;

use super::keys::{EXPIRES, PIN_ACTIONS, WAIT};
use super::names::{list, nearest};
use super::reader::{Reader, Section};
use super::rules::check_caller;

/// Reads what becomes of a call that needs a person's yes.
pub(super) fn approval(reader: &mut Reader<'_>, root: &Section<'_>) -> Terms {
    let usual = Terms::default();
    let Some(section) = reader.table(root, "approval") else { return usual };
    let approvers = reader.texts(&section, "approvers").map(|named| {
        named.iter().for_each(|found| check_caller(reader, found));
        if named.is_empty() {
            let help = "name who may answer, such as [\"role:admin\"], or remove the line";
            reader.wrong(
                &section.key_span("approvers"),
                &section.path("approvers"),
                "`approvers` is empty",
                help,
            );
        }
        Whom::new(named.iter().map(|found| found.value.as_str()))
    });
    Terms {
        wait: Duration::from_secs(reader.number(&section, &WAIT)),
        expires: Duration::from_secs(reader.number(&section, &EXPIRES)),
        approvers: approvers.unwrap_or(usual.approvers),
    }
}

/// Reads what is done when definitions change.
pub(super) fn pin(reader: &mut Reader<'_>, root: &Section<'_>, upstreams: &[String]) -> PinSettings {
    let mut settings = PinSettings::default();
    let Some(section) = reader.table(root, "pin") else { return settings };
    settings.action = reader.choice(&section, "action").and_then(action).unwrap_or_default();
    if reader.choice(&section, "new_tools") == Some("hold") {
        settings.new_tools = NewTools::Hold;
    }
    for pair in reader.pairs(&section, "servers") {
        let (name, word) = (&pair.name, &pair.value);
        if !upstreams.contains(&name.value) {
            let names = || upstreams.iter().map(String::as_str);
            let help = match nearest(&name.value, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if upstreams.is_empty() => "only upstreams are pinned, and there are none".to_owned(),
                None => format!("the upstreams of this file are {}", list(names())),
            };
            reader.wrong(&name.span, &name.key, format!("there is no upstream `{}`", name.value), help);
        }
        match action(&word.value) {
            Some(action) => {
                settings.servers.insert(name.value.clone(), action);
            }
            None => {
                let help = format!("use one of {}", list(PIN_ACTIONS.iter().copied()));
                reader.wrong(&word.span, &word.key, "`servers` takes another word", help);
            }
        }
    }
    settings
}

fn action(word: &str) -> Option<PinAction> {
    match word {
        "hold" => Some(PinAction::Hold),
        "warn" => Some(PinAction::Warn),
        "off" => Some(PinAction::Off),
        _ => None,
    }
}
