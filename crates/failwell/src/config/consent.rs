//! `[approval]`.

use std::time::Duration;

use failwell_policy::Whom;
use failwell_server::Terms;

use super::keys::{EXPIRES, WAIT};
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
