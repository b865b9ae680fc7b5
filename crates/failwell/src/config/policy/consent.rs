//! `[approval]` and `[pin]`.

use std::time::Duration;

use failwell_policy::CallerMatcher;
use failwell_store::ApprovalTerms;
use failwell_store::{NewTools, PinAction, PinSettings};

use super::rules::check_caller;
use crate::config::keys::{EXPIRES, PIN_ACTIONS, WAIT};
use crate::config::parse::names::{list, nearest};
use crate::config::parse::reader::{Reader, Section};

/// Reads the settings of approvals.
pub(in crate::config) fn approval(reader: &mut Reader<'_>, root: &Section<'_>) -> ApprovalTerms {
    let usual = ApprovalTerms::default();
    let Some(section) = reader.table(root, "approval") else { return usual };
    let approvers = reader.texts(&section, "approvers").map(|named| {
        named.iter().for_each(|found| check_caller(reader, found));
        if named.is_empty() {
            let help = "name the approvers, such as [\"role:admin\"], or remove the line";
            reader.wrong(
                &section.key_span("approvers"),
                &section.path("approvers"),
                "`approvers` is empty",
                help,
            );
        }
        CallerMatcher::new(named.iter().map(|found| found.value.as_str()))
    });
    ApprovalTerms {
        wait: Duration::from_secs(reader.number(&section, &WAIT)),
        expires: Duration::from_secs(reader.number(&section, &EXPIRES)),
        approvers: approvers.unwrap_or(usual.approvers),
    }
}

/// Reads the settings of pins.
pub(in crate::config) fn pin(
    reader: &mut Reader<'_>,
    root: &Section<'_>,
    upstreams: &[String],
) -> PinSettings {
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
                None if upstreams.is_empty() => "only upstreams are pinned, and the file has none".to_owned(),
                None => format!("the upstreams of this file are {}", list(names())),
            };
            reader.wrong(&name.span, &name.key, format!("there is no upstream `{}`", name.value), help);
        }
        match action(&word.value) {
            Some(action) => {
                settings.servers.insert(name.value.clone(), action);
            }
            None => {
                let message = format!("`servers.{}` must be one of: {}", name.value, PIN_ACTIONS.join(", "));
                reader.wrong(&word.span, &word.key, message, "choose one of these values");
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
