//! The ledger alone: records per second, without and with a wait for the commit.

use crate::folder::Folder;
use failwell_audit::{Durability, Ledger, LedgerSettings};
use failwell_journal::{Journal, LogStyle};
use failwell_pipeline::{ExchangeOutcome, Record, Transport};
use failwell_rpc::{Dialect, Id, ReplyTo, Revision};
use std::time::{Duration, Instant, SystemTime};

/// The queue length at which the writer pauses. Below the bound no record is lost.
const MOST_WAITING: u64 = 30_000;
/// The number of callers that wait for their records at the same time.
const CALLERS: usize = 64;

/// Measures both and prints them.
pub async fn run(length: Duration) -> Result<(), String> {
    let loose = best_effort(length)?;
    let (critical, wait) = critical(length).await?;
    println!("the ledger alone");
    println!("  nobody waits           {loose:>9.0} records/s");
    println!("  {CALLERS} callers wait, fsync  {critical:>9.0} records/s, {wait:.1} ms each");
    Ok(())
}

fn ledger(folder: &Folder, durability: Durability) -> Ledger {
    let settings = LedgerSettings { durability, ..LedgerSettings::in_folder(&folder.0) };
    Ledger::start(settings, Journal::to(LogStyle::Json, std::io::sink()))
}

fn best_effort(length: Duration) -> Result<f64, String> {
    let folder = Folder::new("loose");
    let ledger = ledger(&folder, Durability::BestEffort);
    let began = Instant::now();
    while began.elapsed() < length {
        for _ in 0..1_000 {
            ledger.note(record());
        }
        while ledger.health().waiting > MOST_WAITING {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    ledger.flush();
    let (health, took) = (ledger.health(), began.elapsed());
    match health.lost {
        0 => Ok(health.written as f64 / took.as_secs_f64()),
        lost => Err(format!("{lost} records were lost")),
    }
}

async fn critical(length: Duration) -> Result<(f64, f64), String> {
    let folder = Folder::new("critical");
    let ledger = ledger(&folder, Durability::Critical);
    let began = Instant::now();
    let callers: Vec<_> = (0..CALLERS)
        .map(|_| {
            let ledger = ledger.clone();
            tokio::spawn(async move {
                while began.elapsed() < length {
                    ledger.keep(record()).await.map_err(|fault| fault.operator().to_string())?;
                }
                Ok::<(), String>(())
            })
        })
        .collect();
    for caller in callers {
        caller.await.map_err(|error| error.to_string())??;
    }
    let rate = ledger.health().written as f64 / began.elapsed().as_secs_f64();
    Ok((rate, CALLERS as f64 / rate * 1e3))
}

/// The record of a call through the gateway.
fn record() -> Box<Record> {
    Box::new(Record {
        to: ReplyTo::request(Id::from_number(7), Dialect::Mcp(Revision::LATEST)),
        ended: SystemTime::now(),
        took: Duration::from_micros(120),
        service: "failwell",
        connection: "".into(),
        transport: Transport::Http,
        caller: Some("anonymous".into()),
        refused_from: None,
        method: Some("tools/call".into()),
        target: Some("up__echo".into()),
        server: Some("up".into()),
        ended_as: ExchangeOutcome::Succeeded,
        bytes_in: 330,
        bytes_out: 170,
        verdicts: Vec::new(),
        bodies: None,
        trace: None,
    })
}
