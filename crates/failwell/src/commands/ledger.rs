//! The books of a start, and where they are kept.

use std::path::PathBuf;

use failwell_audit::{Csv, Journal, Jsonl, Ledger, LedgerSettings, Promise, Sink, Text};
use failwell_server::{Books, Gate};

use crate::config::{AuditConfig, Config};
use crate::state;

/// The journal and the ledger of one start.
pub(super) fn books(config: &Config, gate: &Gate) -> Books {
    // Whatever the guards are set to do: what is written down stays.
    let redactor = gate.redactor();
    let journal = Journal::to_stderr().redacting(redactor.clone());
    let audit = &config.audit;
    let settings = LedgerSettings {
        promise: if audit.critical { Promise::Critical } else { Promise::BestEffort },
        bodies: audit.bodies.then_some(audit.body_bytes),
        retention: audit.retention,
        redactor,
        body_redactor: Some(gate.body_redactor()),
        sinks: sinks(audit),
        ..LedgerSettings::in_folder(folder(config))
    };
    Books::from(journal.clone()).with_ledger(Ledger::start(settings, journal))
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
