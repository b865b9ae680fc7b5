//! The books of a start, and where they are kept.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use failwell_audit::{
    Csv, Journal, Jsonl, Ledger, LedgerSettings, Promise, Redactor, Sink, Text, Tracer, Witness,
};
use failwell_fault::Fault;
use failwell_otlp::{Otlp, OtlpSettings, Wanted};
use failwell_server::{Books, Gate};

use crate::config::{AuditConfig, Config, OtlpConfig};

/// The journal and the ledger of one start, and what carries them elsewhere.
pub(super) fn books(config: &Config, gate: &Gate) -> Result<Books, Fault> {
    // Whatever the guards are set to do: what is written down stays.
    let redactor = gate.redactor();
    let journal = Journal::to_stderr().redacting(redactor.clone());
    let audit = &config.audit;
    let folder = folder(config);
    let mut sinks = sinks(audit);
    let mut books = Books::from(journal.clone());
    sinks.push(Box::new(books.operations().sink()));
    if let Some(otlp) = &audit.otlp {
        let spans = otlp.spans.then(|| Tracer::new(otlp.queue, otlp.sample_one_in));
        let (tracer, spans) = spans.unzip();
        let (carrier, bell) = Otlp::start(otlp_settings(otlp, &folder, &redactor), spans, journal.clone())?;
        sinks.extend(bell.map(|bell| Box::new(bell) as Box<dyn Sink>));
        books = tracer.into_iter().fold(books, Books::with_tracer).with_carrier(Arc::new(carrier));
    }
    if !audit.ledger {
        return Ok(books);
    }
    let (books, witnesses) = archived(books, audit, &folder, &mut sinks)?;
    let settings = LedgerSettings {
        promise: if audit.critical { Promise::Critical } else { Promise::BestEffort },
        bodies: audit.bodies.then_some(audit.body_bytes),
        retention: audit.retention,
        redactor,
        body_redactor: Some(gate.body_redactor()),
        sinks,
        witnesses,
        ..LedgerSettings::in_folder(folder)
    };
    Ok(books.with_ledger(Ledger::start(settings, journal)))
}

/// The books, with copies in PostgreSQL where the configuration wants them, and who is asked for them.
#[cfg(feature = "postgres")]
fn archived(
    books: Books,
    audit: &AuditConfig,
    folder: &Path,
    sinks: &mut Vec<Box<dyn Sink>>,
) -> Result<(Books, Vec<Witness>), Fault> {
    let Some(postgres) = &audit.postgres else { return Ok((books, Vec::new())) };
    let (archive, ends) = super::archive::start(postgres, folder, books.journal())?;
    sinks.push(Box::new(ends.bell));
    let witness = postgres.critical.then_some(ends.witness);
    Ok((books.with_carrier(Arc::new(archive)), witness.into_iter().collect()))
}

/// No configuration that asks for copies gets here.
#[cfg(not(feature = "postgres"))]
fn archived(
    books: Books,
    _audit: &AuditConfig,
    _folder: &Path,
    _sinks: &mut Vec<Box<dyn Sink>>,
) -> Result<(Books, Vec<Witness>), Fault> {
    Ok((books, Vec::new()))
}

fn otlp_settings(otlp: &OtlpConfig, folder: &Path, redactor: &Redactor) -> OtlpSettings {
    OtlpSettings {
        url: otlp.url.clone(),
        headers: otlp.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        trust: otlp.trust.clone(),
        timeout: otlp.timeout,
        batch: otlp.batch,
        budget: otlp.retry,
        logs: if otlp.logs { Wanted::Yes } else { Wanted::No },
        folder: folder.to_owned(),
        service: (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
        redactor: redactor.clone(),
    }
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
    config.state_folder()
}
