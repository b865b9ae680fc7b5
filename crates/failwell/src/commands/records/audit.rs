//! `failwell audit`: reads the ledger.

#[cfg(feature = "postgres")]
mod archive;
mod export;
mod record_reader;
mod tail;
mod verify;

use std::path::PathBuf;
use std::process::ExitCode;

use failwell_audit::{Format, Query};

pub(in crate::commands) use self::record_reader::{NodeRow, RecordReader};

use crate::cli::{AuditCommand, LedgerLocation, QueryLedger, RecordFilter};
use crate::commands::backends::ledger;
use crate::commands::config_file::{self, ConfigFileError};
use crate::complaint::Complaint;
use crate::terminal;

pub(in crate::commands) fn run(look: &AuditCommand) -> Result<ExitCode, Complaint> {
    match look {
        AuditCommand::Tail(arguments) => tail::run(arguments),
        AuditCommand::Query(arguments) => query(arguments),
        AuditCommand::Export(arguments) => export::run(arguments),
        AuditCommand::Verify(arguments) => verify::run(arguments),
    }
}

/// The folder that contains the ledger: `--data-dir`, otherwise the folder of the configuration.
pub(in crate::commands) fn folder(place: &LedgerLocation) -> Result<PathBuf, Complaint> {
    match &place.data_dir {
        Some(folder) => Ok(folder.clone()),
        None => {
            let config =
                config_file::settle_place(place.config.as_deref()).map_err(ConfigFileError::report)?;
            Ok(ledger::folder(&config))
        }
    }
}

fn query(arguments: &QueryLedger) -> Result<ExitCode, Complaint> {
    let limit = usize::try_from(arguments.limit).unwrap_or(usize::MAX);
    let query = Query { limit: Some(limit), ..asked(&arguments.wanted) };
    let found = RecordReader::open(&arguments.place)?.select(&query)?;
    show(&found, format(arguments.json));
    if found.is_empty() && !arguments.json {
        terminal::report("no record fits\n");
    }
    Ok(ExitCode::SUCCESS)
}

fn asked(wanted: &RecordFilter) -> Query {
    Query {
        reference: wanted.reference.clone(),
        reason: wanted.reason.clone(),
        caller: wanted.caller.clone(),
        target: wanted.tool.clone(),
        trace: wanted.trace.clone(),
        outcome: wanted.outcome.clone(),
        since: wanted.since,
        until: wanted.until,
        ..Query::default()
    }
}

fn format(json: bool) -> Format {
    if json { Format::Jsonl } else { Format::Text }
}

fn show(rows: &[NodeRow], format: Format) {
    terminal::print(&rows.iter().map(|row| row.written(format)).collect::<String>());
}
