//! Telemetry of a start (journal, ledger, exporters) and the state folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use failwell_audit::{CsvSink, Durability, JsonlSink, Ledger, LedgerSettings, Replica, Sink, TextSink};
use failwell_controls::{GuardSet, Telemetry};
use failwell_fault::{Fault, OrFault, ReasonRegistry, reason};
use failwell_journal::{Journal, Redactor};
use failwell_otlp::{OtlpExporter, OtlpSettings, Signal};
use failwell_pipeline::Tracer;

use crate::config::{AuditConfig, Config, OtlpConfig};

/// The journal and the ledger of one start, with their exporters.
pub(in crate::commands) fn telemetry(config: &Config, guard_set: &GuardSet) -> Result<Telemetry, Fault> {
    // The ledger is redacted regardless of the guards' actions, because records are permanent.
    let redactor = guard_set.redactor();
    let journal = Journal::to_stderr().redacting(redactor.clone());
    let audit = &config.audit;
    let folder = folder(config);
    let mut sinks = sinks(audit);
    let reasons = failwell_catalogue::registry().or_fault(&reason::SERVER_BUG)?;
    let mut telemetry = Telemetry::from(journal.clone()).with_reasons(reasons.clone());
    sinks.push(Box::new(telemetry.operations().sink()));
    if let Some(otlp) = &audit.otlp {
        let spans = otlp.spans.then(|| Tracer::new(otlp.queue, otlp.sample_one_in));
        let (tracer, spans) = spans.unzip();
        let settings = otlp_settings(otlp, &folder, &redactor, &reasons);
        let (exporter, signal) = OtlpExporter::start(settings, spans, journal.clone())?;
        sinks.extend(signal.map(|signal| Box::new(signal) as Box<dyn Sink>));
        telemetry =
            tracer.into_iter().fold(telemetry, Telemetry::with_tracer).with_exporter(Arc::new(exporter));
    }
    if !audit.ledger {
        return Ok(telemetry);
    }
    let (telemetry, replicas) = archived(telemetry, audit, &folder, &mut sinks)?;
    for warning in exposed_places(&folder, audit) {
        journal.note_warning(&warning, "ledger");
    }
    let settings = LedgerSettings {
        durability: if audit.critical { Durability::Critical } else { Durability::BestEffort },
        bodies: audit.bodies.then_some(audit.body_bytes),
        retention: audit.retention,
        redactor,
        body_redactor: Some(guard_set.body_redactor()),
        sinks,
        replicas,
        ..LedgerSettings::in_folder(folder)
    };
    Ok(telemetry.with_ledger(Ledger::start(settings, journal)))
}

/// Adds the replication to PostgreSQL, if configured, and the replicas that confirm it.
#[cfg(feature = "postgres")]
fn archived(
    telemetry: Telemetry,
    audit: &AuditConfig,
    folder: &Path,
    sinks: &mut Vec<Box<dyn Sink>>,
) -> Result<(Telemetry, Vec<Replica>), Fault> {
    let Some(postgres) = &audit.postgres else { return Ok((telemetry, Vec::new())) };
    let (archive, ends) = super::archive::start(postgres, folder, telemetry.recorder().journal())?;
    sinks.push(Box::new(ends.signal));
    let replica = postgres.critical.then_some(ends.replica);
    Ok((telemetry.with_exporter(Arc::new(archive)), replica.into_iter().collect()))
}

/// Without the feature, the configuration check refuses `audit.postgres`.
#[cfg(not(feature = "postgres"))]
fn archived(
    telemetry: Telemetry,
    _audit: &AuditConfig,
    _folder: &Path,
    _sinks: &mut Vec<Box<dyn Sink>>,
) -> Result<(Telemetry, Vec<Replica>), Fault> {
    Ok((telemetry, Vec::new()))
}

fn otlp_settings(
    otlp: &OtlpConfig,
    folder: &Path,
    redactor: &Redactor,
    reasons: &ReasonRegistry,
) -> OtlpSettings {
    OtlpSettings {
        url: otlp.url.clone(),
        headers: otlp.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        trust: otlp.trust.clone(),
        timeout: otlp.timeout,
        batch: otlp.batch,
        budget: otlp.retry,
        logs: if otlp.logs { Signal::Yes } else { Signal::No },
        folder: folder.to_owned(),
        service: (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
        redactor: redactor.clone(),
        reasons: reasons.clone(),
    }
}

/// Places of records that other users can change: a folder that they can write, and copies behind a link.
#[cfg(unix)]
fn exposed_places(folder: &Path, audit: &AuditConfig) -> Vec<String> {
    use std::os::unix::fs::PermissionsExt;
    let is_open = folder.metadata().is_ok_and(|found| found.permissions().mode() & 0o022 != 0);
    let folder = is_open
        .then(|| format!("other users can write to the state folder {}: chmod go-w it", folder.display()));
    let is_link = |path: &&PathBuf| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    let links = [&audit.jsonl, &audit.csv, &audit.text].into_iter().flatten().filter(is_link);
    let links = links.map(|path| {
        format!("the copy of the ledger {} is a link: name the file that it leads to", path.display())
    });
    folder.into_iter().chain(links).collect()
}

#[cfg(not(unix))]
fn exposed_places(_folder: &Path, _audit: &AuditConfig) -> Vec<String> {
    Vec::new()
}

fn sinks(audit: &AuditConfig) -> Vec<Box<dyn Sink>> {
    let mut sinks: Vec<Box<dyn Sink>> = Vec::new();
    if let Some(path) = &audit.jsonl {
        sinks.push(Box::new(JsonlSink::to(path, audit.rotation)));
    }
    if let Some(path) = &audit.csv {
        sinks.push(Box::new(CsvSink::to(path, audit.rotation)));
    }
    if let Some(path) = &audit.text {
        sinks.push(Box::new(TextSink::to(path, audit.rotation)));
    }
    sinks
}

/// The state folder: the configuration's `data_dir`, otherwise the user's default.
pub(in crate::commands) fn folder(config: &Config) -> PathBuf {
    config.state_folder()
}
