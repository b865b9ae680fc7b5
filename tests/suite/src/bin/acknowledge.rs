//! Writes records to a critical ledger without end. Prints the reference of each record once it is on disk. A test kills
//! it at any moment.

#![allow(clippy::expect_used, reason = "a tool for tests may stop at the first surprise")]

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use failwell_audit::{Durability, Ledger, LedgerSettings};
use failwell_fault::{Fault, reason};
use failwell_journal::Journal;
use failwell_pipeline::{ExchangeOutcome, Record, Transport};
use failwell_rpc::{Dialect, Id, ReplyTo, Revision};

/// How many requests wait for their records at once.
const AT_ONCE: u64 = 8;

#[tokio::main]
async fn main() {
    let folder = std::env::args().nth(1).expect("a folder");
    let settings = LedgerSettings { durability: Durability::Critical, ..LedgerSettings::in_folder(folder) };
    let ledger = Ledger::start(settings, Journal::to_stderr());
    let callers: Vec<_> = (0..AT_ONCE).map(|caller| tokio::spawn(write(ledger.clone(), caller))).collect();
    for caller in callers {
        caller.await.expect("a caller");
    }
}

async fn write(ledger: Ledger, caller: u64) {
    for number in 0u64.. {
        let to = ReplyTo::request(Id::from_number(number), Dialect::Mcp(Revision::LATEST));
        let line = format!("{}\n", to.reference);
        if ledger.keep(record(to, caller + number)).await.is_err() {
            return;
        }
        let mut out = std::io::stdout().lock();
        if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

fn record(to: ReplyTo, number: u64) -> Box<Record> {
    let fault = || Fault::new(&reason::GATEWAY_UPSTREAM_TIMEOUT).fact("limit_s", number);
    Box::new(Record {
        to,
        ended: SystemTime::now(),
        took: Duration::from_micros(number),
        service: "acknowledge",
        connection: "".into(),
        transport: Transport::Http,
        caller: None,
        refused_from: None,
        method: Some("tools/call".into()),
        target: Some("echo".into()),
        server: None,
        ended_as: if number.is_multiple_of(3) {
            ExchangeOutcome::Fault(Arc::new(fault()))
        } else {
            ExchangeOutcome::Succeeded
        },
        bytes_in: 1,
        bytes_out: 2,
        verdicts: Vec::new(),
        bodies: None,
        trace: None,
    })
}
