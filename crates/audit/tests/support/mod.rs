//! Test records, and a temporary folder for the ledger.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use failwell_audit::{Ledger, LedgerReader, LedgerSettings, VerifyReport, verify};
use failwell_fault::{Fault, reason};
use failwell_journal::{Journal, LogStyle};
use failwell_pipeline::{ExchangeOutcome, Record, Transport};
use failwell_rpc::{Dialect, Id, ReplyTo, Revision};

/// A temporary folder; dropping it deletes the folder.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("failwell-audit-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn quiet() -> Journal {
    Journal::to(LogStyle::Json, std::io::sink())
}

pub(crate) fn ledger(settings: LedgerSettings) -> Ledger {
    Ledger::start(settings, quiet())
}

pub(crate) fn fine(target: &str) -> Box<Record> {
    record(target, ExchangeOutcome::Succeeded)
}

pub(crate) fn fault(fault: Fault) -> Box<Record> {
    record("echo", ExchangeOutcome::Fault(Arc::new(fault)))
}

pub(crate) fn record(target: &str, ended_as: ExchangeOutcome) -> Box<Record> {
    Box::new(Record {
        to: ReplyTo::request(Id::from_number(7), Dialect::Mcp(Revision::V2025_11_25)),
        ended: SystemTime::now(),
        took: Duration::from_micros(1_234),
        service: "test",
        connection: "stdio".into(),
        transport: Transport::Stdio,
        caller: Some("anonymous".into()),
        refused_from: None,
        method: Some("tools/call".into()),
        target: Some(target.into()),
        server: None,
        ended_as,
        bytes_in: 10,
        bytes_out: 20,
        verdicts: Vec::new(),
        bodies: None,
        trace: None,
    })
}

/// A request that was refused before its caller was identified.
pub(crate) fn refused() -> Box<Record> {
    let mut record = fault(Fault::new(&reason::POLICY_UNAUTHENTICATED));
    record.refused_from = Some(std::net::IpAddr::from([192, 0, 2, 7]));
    (record.caller, record.transport) = (None, Transport::Http);
    record
}

/// Writes ten records; every third is a failure.
pub(crate) fn ten(folder: &Path) {
    let ledger = ledger(LedgerSettings::in_folder(folder));
    for number in 0..10 {
        if number % 3 == 0 {
            ledger.note(fault(Fault::new(&reason::GATEWAY_UPSTREAM_TIMEOUT).fact("limit_s", 5u64)));
        } else {
            ledger.note(fine(&format!("tool{number}")));
        }
    }
    ledger.flush();
}

pub(crate) fn verified(folder: &Path) -> VerifyReport {
    verify(&open(folder), None).expect("a ledger that can be read")
}

pub(crate) fn open(folder: &Path) -> LedgerReader {
    LedgerReader::open(folder).expect("readable").expect("a ledger")
}
