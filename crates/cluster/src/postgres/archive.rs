//! The replication thread: it follows the ledger, and continues from the last record in the database.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use failwell_audit::{
    Batch, ChainHead, ExportCounters, Exporter, ExporterHandle, ExporterHealth, FlushRequest, LedgerFollower,
    Replica, ReplicaAck, WriteSignal,
};
use failwell_backoff::Backoff;
use failwell_fault::{Fault, OrFault, reason};
use failwell_journal::Journal;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_postgres::Client;

use crate::postgres::connect::connect;
use crate::postgres::errors::{failed, late};
use crate::postgres::settings::PostgresSettings;
use crate::postgres::table;

/// The metric label of this exporter.
const TO: &str = "postgres";
/// Maximum bytes of records in one batch.
const LARGEST: usize = 4 << 20;
/// Interval of checks of the ledger and the connection without a signal.
const LOOK: Duration = Duration::from_secs(1);
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(250), Duration::from_secs(15));

/// A handle to the replication thread. Dropping it ends the thread.
pub struct LedgerReplicator {
    way: [ExporterHandle; 1],
}

/// The connections between the ledger and the replicator.
pub struct ReplicatorParts {
    /// The caller adds it to the ledger's sinks.
    pub signal: WriteSignal,
    /// The caller adds it to the ledger's replicas if responses must wait for the database.
    pub replica: Replica,
}

impl LedgerReplicator {
    /// Starts replication. An unreachable database is retried with back-off.
    pub fn start(
        settings: PostgresSettings,
        journal: &Journal,
    ) -> Result<(LedgerReplicator, ReplicatorParts), Fault> {
        let (follower, signal) = LedgerFollower::new(&settings.folder);
        let (way, counters, flushes) = ExporterHandle::new(TO, journal);
        let (replica, ack) = Replica::new("PostgreSQL");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .or_fault(&reason::AUDIT_NOT_CARRIED)?;
        let copying = LedgerCopier { settings, follower, counters, flushes, ack, failures: 0 };
        let thread = std::thread::Builder::new().name(TO.to_owned());
        thread.spawn(move || runtime.block_on(copying.run())).or_fault(&reason::AUDIT_NOT_CARRIED)?;
        Ok((LedgerReplicator { way: [way] }, ReplicatorParts { signal, replica }))
    }
}

impl Exporter for LedgerReplicator {
    fn health(&self) -> Vec<ExporterHealth> {
        self.way.iter().map(ExporterHandle::health).collect()
    }

    fn flush(&self, patience: Duration) {
        ExporterHandle::flush(&self.way, patience);
    }
}

struct LedgerCopier {
    settings: PostgresSettings,
    follower: LedgerFollower,
    counters: Arc<ExportCounters>,
    flushes: mpsc::Receiver<FlushRequest>,
    ack: ReplicaAck,
    failures: u32,
}

/// The handle is dropped, so replication ends.
struct HandleClosed;

impl LedgerCopier {
    async fn run(mut self) {
        loop {
            let why = match self.copy().await {
                Ok(HandleClosed) => return,
                Err(why) => why,
            };
            self.ack.fail();
            self.counters.record_failure(&why);
            self.failures += 1;
            tokio::select! {
                () = tokio::time::sleep(BACKOFF.delay(self.failures)) => {}
                flush = self.flushes.recv() => match flush {
                    // An attempt has just failed. The records stay in the ledger.
                    Some(flush) => flush.done(),
                    None => return,
                },
            }
        }
    }

    /// Copies records until an error occurs.
    async fn copy(&mut self) -> Result<HandleClosed, Fault> {
        let limit = self.settings.timeout;
        let mut client = connect(&self.settings.address, limit).await?;
        in_time(limit, table::lay_out(&mut client)).await?;
        let Some(node) = self.follower.node()? else {
            return Err(failed("there is no ledger yet"));
        };
        let end = in_time(limit, table::end(&client, &node)).await?;
        let mut through = end.map_or(0, |end| end.seq);
        self.is_ours(end)?;
        let mut flush: Option<FlushRequest> = None;
        loop {
            let batch = self.follower.after(through, self.settings.batch, LARGEST)?;
            let batch = batch.ok_or_else(|| failed("the ledger is gone"))?;
            through = self.gap(through, &batch);
            self.counters.set_waiting(u64::try_from(batch.head.seq - through).unwrap_or(0));
            if let Some(last) = batch.rows.last() {
                let (last, made) = (last.head.seq, batch.rows.first().map_or(0, |row| row.at));
                in_time(limit, table::add(&mut client, &node, &batch.rows)).await?;
                through = last;
                self.arrived(batch.rows.len(), made, through);
                continue;
            }
            self.ack.confirm(through);
            if let Some(flush) = flush.take() {
                flush.done();
            }
            match self.wait(&client).await? {
                WaitEvent::Flush(asked) => flush = Some(asked),
                WaitEvent::Look => {}
                WaitEvent::Over => return Ok(HandleClosed),
            }
        }
    }

    /// Checks that the last record in the database has the same hash in the ledger, unless retention removed
    /// it there.
    fn is_ours(&mut self, end: Option<ChainHead>) -> Result<(), Fault> {
        let Some(end) = end else { return Ok(()) };
        let Some(Batch { rows, head, .. }) = self.follower.after(end.seq - 1, 1, 1)? else { return Ok(()) };
        let same = rows.first().is_none_or(|row| row.head.seq != end.seq || row.head == end);
        if head.seq < end.seq || !same { Err(table::other_chain()) } else { Ok(()) }
    }

    /// Counts records that retention removed before they were copied.
    fn gap(&self, through: i64, batch: &Batch) -> i64 {
        let Some(removed) = batch.removed.filter(|removed| removed.seq > through) else { return through };
        let why = format!("records {} to {} were removed for their age first", through + 1, removed.seq);
        self.counters.record_dropped(u64::try_from(removed.seq - through).unwrap_or(0), &failed(why));
        removed.seq
    }

    fn arrived(&mut self, count: usize, made: i64, through: i64) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let made = Duration::from_millis(u64::try_from(made).unwrap_or(0));
        self.counters.record_sent(count, now.saturating_sub(made));
        self.ack.confirm(through);
        self.failures = 0;
    }

    async fn wait(&mut self, client: &Client) -> Result<WaitEvent, Fault> {
        let waited = tokio::select! {
            () = self.follower.changed() => WaitEvent::Look,
            () = tokio::time::sleep(LOOK) => WaitEvent::Look,
            flush = self.flushes.recv() => flush.map_or(WaitEvent::Over, WaitEvent::Flush),
        };
        if client.is_closed() {
            return Err(failed("the connection to PostgreSQL was lost"));
        }
        Ok(waited)
    }
}

enum WaitEvent {
    Look,
    Flush(FlushRequest),
    Over,
}

async fn in_time<T>(limit: Duration, work: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    tokio::time::timeout(limit, work).await.unwrap_or_else(|_| Err(late(limit)))
}
