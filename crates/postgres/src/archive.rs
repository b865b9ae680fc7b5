//! The thread that copies: it follows the ledger, and goes on from where the database is.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use failwell_audit::{
    Batch, Bell, Carrier, CarrierHealth, Following, Head, Hurry, Journal, Tally, Testimony, Way, Witness,
};
use failwell_fault::{Fault, OrFault, reason};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_postgres::Client;

use crate::connect::connect;
use crate::settings::PostgresSettings;
use crate::table;
use crate::why::{failed, late};

/// What is carried where, as numbers are labelled.
const TO: &str = "postgres";
/// Bytes of records that go at once at the most.
const LARGEST: usize = 4 << 20;
/// How often the ledger and the connection are looked at when nobody says that there is something new.
const LOOK: Duration = Duration::from_secs(1);
/// The first rest after a failure; then twice as long each time.
const FIRST_REST: Duration = Duration::from_millis(250);
/// The longest rest between two attempts.
const LONGEST_REST: Duration = Duration::from_secs(15);

/// A handle to the thread that copies. The thread ends with it.
pub struct Archive {
    way: [Way; 1],
}

/// What the ledger needs: a bell to ring, and a witness to ask.
pub struct Ends {
    /// Belongs among the ledger's sinks.
    pub bell: Bell,
    /// Belongs among its witnesses, where an answer is to wait for the database, too.
    pub witness: Witness,
}

impl Archive {
    /// Starts to copy. A database that cannot be reached is tried again and again.
    pub fn start(settings: PostgresSettings, journal: &Journal) -> Result<(Archive, Ends), Fault> {
        let (following, bell) = Following::new(&settings.folder);
        let (way, tally, hurries) = Way::new(TO, journal);
        let (witness, testimony) = Witness::new("PostgreSQL");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .or_fault(&reason::AUDIT_NOT_CARRIED)?;
        let copying = Copying { settings, following, tally, hurries, testimony, failures: 0 };
        let thread = std::thread::Builder::new().name(TO.to_owned());
        thread.spawn(move || runtime.block_on(copying.run())).or_fault(&reason::AUDIT_NOT_CARRIED)?;
        Ok((Archive { way: [way] }, Ends { bell, witness }))
    }
}

impl Carrier for Archive {
    fn health(&self) -> Vec<CarrierHealth> {
        self.way.iter().map(Way::health).collect()
    }

    fn flush(&self, patience: Duration) {
        Way::hurry(&self.way, patience);
    }
}

struct Copying {
    settings: PostgresSettings,
    following: Following,
    tally: Arc<Tally>,
    hurries: mpsc::Receiver<Hurry>,
    testimony: Testimony,
    failures: u32,
}

/// Nobody is left to copy for.
struct Over;

impl Copying {
    async fn run(mut self) {
        loop {
            let why = match self.copy().await {
                Ok(Over) => return,
                Err(why) => why,
            };
            self.testimony.fails();
            self.tally.failed(&why);
            self.failures += 1;
            let rest = (FIRST_REST * 2u32.saturating_pow(self.failures.min(10) - 1)).min(LONGEST_REST);
            tokio::select! {
                () = tokio::time::sleep(rest) => {}
                hurry = self.hurries.recv() => match hurry {
                    // It was tried a moment ago; what is not there is in the ledger.
                    Some(hurry) => hurry.done(),
                    None => return,
                },
            }
        }
    }

    /// Copies until something goes wrong.
    async fn copy(&mut self) -> Result<Over, Fault> {
        let limit = self.settings.timeout;
        let mut client = connect(&self.settings.address, limit).await?;
        in_time(limit, table::lay_out(&mut client)).await?;
        let Some(node) = self.following.node()? else {
            return Err(failed("there is no ledger yet"));
        };
        let end = in_time(limit, table::end(&client, &node)).await?;
        let mut through = end.map_or(0, |end| end.seq);
        self.is_ours(end)?;
        let mut hurry: Option<Hurry> = None;
        loop {
            let batch = self.following.after(through, self.settings.batch, LARGEST)?;
            let batch = batch.ok_or_else(|| failed("the ledger is gone"))?;
            through = self.gap(through, &batch);
            self.tally.waits(u64::try_from(batch.head.seq - through).unwrap_or(0));
            if let Some(last) = batch.rows.last() {
                let (last, made) = (last.head.seq, batch.rows.first().map_or(0, |row| row.at));
                in_time(limit, table::add(&mut client, &node, &batch.rows)).await?;
                through = last;
                self.arrived(batch.rows.len(), made, through);
                continue;
            }
            self.testimony.seen(through);
            if let Some(hurry) = hurry.take() {
                hurry.done();
            }
            match self.wait(&client).await? {
                Waited::Hurry(asked) => hurry = Some(asked),
                Waited::Look => {}
                Waited::Over => return Ok(Over),
            }
        }
    }

    /// What the database has last must be what the ledger has under the same number, as long as it has it.
    fn is_ours(&mut self, end: Option<Head>) -> Result<(), Fault> {
        let Some(end) = end else { return Ok(()) };
        let Some(Batch { rows, head, .. }) = self.following.after(end.seq - 1, 1, 1)? else { return Ok(()) };
        let same = rows.first().is_none_or(|row| row.head.seq != end.seq || row.head == end);
        if head.seq < end.seq || !same { Err(table::other_chain()) } else { Ok(()) }
    }

    /// What the ledger removed before it could be copied is gone.
    fn gap(&self, through: i64, batch: &Batch) -> i64 {
        let Some(removed) = batch.removed.filter(|removed| removed.seq > through) else { return through };
        let why = format!("records {} to {} were removed for their age first", through + 1, removed.seq);
        self.tally.dropped(u64::try_from(removed.seq - through).unwrap_or(0), &failed(why));
        removed.seq
    }

    fn arrived(&mut self, count: usize, made: i64, through: i64) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let made = Duration::from_millis(u64::try_from(made).unwrap_or(0));
        self.tally.arrived(count, now.saturating_sub(made));
        self.testimony.seen(through);
        self.failures = 0;
    }

    async fn wait(&mut self, client: &Client) -> Result<Waited, Fault> {
        let waited = tokio::select! {
            () = self.following.rung() => Waited::Look,
            () = tokio::time::sleep(LOOK) => Waited::Look,
            hurry = self.hurries.recv() => hurry.map_or(Waited::Over, Waited::Hurry),
        };
        if client.is_closed() {
            return Err(failed("the connection to PostgreSQL was lost"));
        }
        Ok(waited)
    }
}

enum Waited {
    Look,
    Hurry(Hurry),
    Over,
}

async fn in_time<T>(limit: Duration, work: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    tokio::time::timeout(limit, work).await.unwrap_or_else(|_| Err(late(limit)))
}
