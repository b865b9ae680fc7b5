//! The books of a start, and where they are kept.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use failwell_audit::{Csv, Journal, Jsonl, Ledger, LedgerSettings, Promise, Redactor, Sink, Text};
use failwell_policy::{GuardSettings, Guards};
use failwell_server::Books;

use crate::config::{AuditConfig, Config};
use crate::state;

/// The journal and the ledger of one start.
pub(super) fn books(config: &Config) -> Books {
    let redactor = redactor();
    let journal = Journal::redacted_to_stderr(redactor.clone());
    let audit = &config.audit;
    let settings = LedgerSettings {
        promise: if audit.critical { Promise::Critical } else { Promise::BestEffort },
        bodies: audit.bodies.then_some(audit.body_bytes),
        retention: audit.retention,
        redactor,
        sinks: sinks(audit),
        ..LedgerSettings::in_folder(folder(config))
    };
    Books::from(journal.clone()).with_ledger(Ledger::start(settings, journal))
}

/// Takes secrets out of what is written down, whatever the guards are set to do.
fn redactor() -> Redactor {
    // Made when the first text comes: most starts of a desktop client never see one.
    let guards = LazyLock::new(|| Guards::compile(GuardSettings::default()));
    Arc::new(move |text| match &*guards {
        Ok(guards) => guards.scrub(text).into_owned(),
        // Better nothing than a secret.
        Err(_) => "[not kept: the guards could not be built]".to_owned(),
    })
}

fn sinks(audit: &AuditConfig) -> Vec<Box<dyn Sink>> {
    let mut sinks: Vec<Box<dyn Sink>> = Vec::new();
    if let Some(path) = &audit.jsonl {
        sinks.push(Box::new(Jsonl::to(path, audit.rotation)));
    }
    if let Some(path) = &audit.csv {
        sinks.push(Box::new(Csv::to(path, audit.rotation)));
    }
    if let Some(path) = &audit.text {
        sinks.push(Box::new(Text::to(path, audit.rotation)));
    }
    sinks
}

/// The folder state is kept in: the configuration's, else the user's.
pub(super) fn folder(config: &Config) -> PathBuf {
    config.data_dir.clone().or_else(state::folder).unwrap_or_else(|| PathBuf::from(".failwell"))
}
