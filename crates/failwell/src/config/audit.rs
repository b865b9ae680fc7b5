//! `[audit]`.

pub(super) mod otlp;
pub(super) mod postgres;

use std::path::PathBuf;

use failwell_audit::{Retention, Rotation};

use super::keys::{BODY_BYTES, KEEP_DAYS, KEEP_MB, KEEP_RECORDS, Number, ROTATE_FILES, ROTATE_MB};
use super::parse::reader::{Reader, Section};
use super::settings::AuditConfig;

pub(super) fn read(reader: &mut Reader<'_>, root: &Section<'_>) -> AuditConfig {
    let Some(section) = reader.table(root, "audit") else { return AuditConfig::default() };
    let mut paths: Vec<(&str, PathBuf)> = Vec::new();
    let [jsonl, csv, text] = ["jsonl", "csv", "text"].map(|name| path(reader, &section, name, &mut paths));
    let critical = reader.flag(&section, "critical").unwrap_or(false);
    let audit = AuditConfig {
        ledger: reader.flag(&section, "ledger").unwrap_or(true),
        critical,
        bodies: reader.flag(&section, "bodies").unwrap_or(false),
        body_bytes: usize::try_from(reader.number(&section, &BODY_BYTES)).unwrap_or(usize::MAX),
        jsonl,
        csv,
        text,
        otlp: otlp::read(reader, &section),
        postgres: postgres::read(reader, &section, critical),
        retention: retention(reader, &section),
        rotation: rotation(reader, &section),
    };
    if !audit.ledger {
        refuse_without_ledger(reader, &section, &audit);
    }
    audit
}

/// Refuses options that need the ledger while it is off, instead of silently ignoring them.
fn refuse_without_ledger(reader: &mut Reader<'_>, section: &Section<'_>, audit: &AuditConfig) {
    let asked_for = [
        ("critical", audit.critical),
        ("bodies", audit.bodies),
        ("jsonl", audit.jsonl.is_some()),
        ("csv", audit.csv.is_some()),
        ("text", audit.text.is_some()),
        ("postgres", audit.postgres.is_some()),
        ("retention", section.has("retention")),
    ];
    for (name, _) in asked_for.into_iter().filter(|(_, asked_for)| *asked_for) {
        let message = format!("`{name}` has no effect without the ledger");
        reader.wrong(&section.key_span(name), &section.path(name), message, WITH_LEDGER);
    }
    if audit.otlp.as_ref().is_some_and(|otlp| otlp.logs) {
        let message = "`otlp` exports records, which need the ledger";
        let help = "remove `ledger = false`, or add `logs = false` to [audit.otlp] and send spans alone";
        reader.wrong(&section.key_span("otlp"), &section.path("otlp"), message, help);
    }
}

const WITH_LEDGER: &str = "remove it, or remove `ledger = false`";

/// The path of one kind of copy. Two kinds cannot share a file.
fn path(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    name: &'static str,
    others: &mut Vec<(&'static str, PathBuf)>,
) -> Option<PathBuf> {
    let found = reader.text(section, name)?;
    if found.value.is_empty() {
        let message = format!("`{name}` is empty");
        reader.wrong(&found.span, &found.key, message, "name a file, or remove the line");
        return None;
    }
    let path = reader.folder.join(found.value);
    if let Some((other, _)) = others.iter().find(|(_, taken)| *taken == path) {
        let message = format!("`{name}` and `{other}` name the same file");
        reader.wrong(&found.span, &found.key, message, "name a different file for each");
    } else if path.is_dir() {
        let message = format!("`{name}` names a folder");
        reader.wrong(&found.span, &found.key, message, "name a file in it");
    } else if path.parent().is_some_and(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        let message = format!("the folder of `{name}` does not exist");
        reader.wrong(
            &found.span,
            &found.key,
            message,
            "create the folder, or name a file in one that exists",
        );
    }
    others.push((name, path.clone()));
    Some(path)
}

fn retention(reader: &mut Reader<'_>, section: &Section<'_>) -> Retention {
    let Some(inner) = reader.table(section, "retention") else { return Retention::default() };
    Retention {
        days: reader.number(&inner, &KEEP_DAYS),
        records: reader.number(&inner, &KEEP_RECORDS),
        bytes: megabytes(reader, &inner, &KEEP_MB),
    }
}

fn rotation(reader: &mut Reader<'_>, section: &Section<'_>) -> Rotation {
    let Some(inner) = reader.table(section, "rotation") else { return Rotation::default() };
    Rotation {
        bytes: megabytes(reader, &inner, &ROTATE_MB),
        files: u32::try_from(reader.number(&inner, &ROTATE_FILES)).unwrap_or(u32::MAX),
    }
}

fn megabytes(reader: &mut Reader<'_>, section: &Section<'_>, wanted: &Number) -> u64 {
    reader.number(section, wanted) << 20
}
