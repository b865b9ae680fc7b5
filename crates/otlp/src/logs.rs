//! Records on their way: read from the ledger, sent in order, never given up while the ledger has them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use failwell_audit::{Batch, Following, Hurry, Row, Tally};
use failwell_fault::Fault;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::collector::{Collector, rest};
use crate::fate::{Fate, failed};
use crate::place::Place;
use crate::records;

/// Bytes of records that go at once at the most.
const LARGEST: usize = 1 << 20;
/// How often the ledger is looked at when nobody says that there is something new.
const LOOK: Duration = Duration::from_secs(1);

pub(crate) struct LogCourier {
    pub(crate) collector: Collector,
    pub(crate) following: Following,
    pub(crate) folder: PathBuf,
    pub(crate) tally: Arc<Tally>,
    pub(crate) hurries: mpsc::Receiver<Hurry>,
    pub(crate) most: usize,
    pub(crate) service: (&'static str, &'static str),
}

/// The chain that is carried, and how far it was.
struct Chain {
    place: Place,
    node: String,
    through: i64,
}

/// How carrying on went.
enum Went {
    /// There is nothing new.
    Idle,
    /// There may be more.
    On,
    /// Not now: try again after this.
    Wait(Duration),
}

impl LogCourier {
    /// Carries until it is told that nobody is left to carry for.
    pub(crate) async fn run(mut self) {
        let (mut chain, mut failures, mut smaller) = (None, 0, self.most);
        let mut hurry: Option<Hurry> = None;
        loop {
            if chain.is_none() {
                chain = self.begin();
            }
            let went = match &mut chain {
                Some(chain) => self.carry(chain, &mut failures, &mut smaller).await,
                None => Went::Idle,
            };
            let wait = match went {
                Went::On => continue,
                Went::Idle => LOOK,
                Went::Wait(wait) => wait,
            };
            // Whoever is in a hurry has had what can be had.
            if let Some(hurry) = hurry.take() {
                hurry.done();
            }
            let idle = matches!(went, Went::Idle);
            tokio::select! {
                () = tokio::time::sleep_until(Instant::now() + wait) => {}
                () = self.following.rung(), if idle => {}
                asked = self.hurries.recv() => match asked {
                    Some(asked) => hurry = Some(asked),
                    None => return,
                },
            }
        }
    }

    /// Takes the ledger up where it was left; one that was never carried, from now on.
    fn begin(&mut self) -> Option<Chain> {
        let node = self.following.node().ok().flatten()?;
        let (place, known) = Place::take(&self.folder, &node)?;
        let through = match known {
            Some(through) => through,
            None => {
                let end = self.following.after(i64::MAX, 1, 1).ok().flatten()?.head.seq;
                self.keep(&place, end);
                end
            }
        };
        Some(Chain { place, node, through })
    }

    async fn carry(&mut self, chain: &mut Chain, failures: &mut u32, most: &mut usize) -> Went {
        let batch = match self.following.after(chain.through, *most, LARGEST) {
            Ok(Some(batch)) => batch,
            Ok(None) => return Went::Idle,
            Err(why) => return self.later(failures, None, &why),
        };
        self.note_gap(chain, &batch);
        let Some(last) = batch.rows.last().map(|row| row.head.seq) else {
            self.tally.waits(0);
            return Went::Idle;
        };
        self.tally.waits(u64::try_from(batch.head.seq - chain.through).unwrap_or(0));
        let body = Bytes::from(records::request(&batch.rows, self.service, &chain.node));
        match self.collector.offer(body).await {
            Fate::Taken { refused, why } => {
                let kept = batch.rows.len().saturating_sub(usize::try_from(refused).unwrap_or(usize::MAX));
                self.tally.arrived(kept, age(batch.rows.first()));
                if let Some(why) = why {
                    self.tally.dropped(refused, &why);
                }
                self.passed(chain, last);
                (*failures, *most) = (0, self.most);
                Went::On
            }
            // Too much for the collector, or one of them is: find out which.
            Fate::Never(why) if batch.rows.len() > 1 => {
                self.tally.failed(&why);
                *most = batch.rows.len() / 2;
                Went::On
            }
            Fate::Never(why) => {
                self.tally.dropped(1, &why);
                self.passed(chain, last);
                Went::On
            }
            Fate::Later { after, why } => self.later(failures, after, &why),
        }
    }

    fn later(&self, failures: &mut u32, after: Option<Duration>, why: &Fault) -> Went {
        *failures += 1;
        self.tally.failed(why);
        Went::Wait(rest(*failures, after))
    }

    /// What the ledger removed before it could be carried is gone.
    fn note_gap(&self, chain: &mut Chain, batch: &Batch) {
        let Some(removed) = batch.removed.filter(|removed| removed.seq > chain.through) else { return };
        let count = u64::try_from(removed.seq - chain.through).unwrap_or(0);
        let why =
            format!("records {} to {} were removed for their age first", chain.through + 1, removed.seq);
        self.tally.dropped(count, &failed(why));
        chain.through = removed.seq;
    }

    fn passed(&self, chain: &mut Chain, through: i64) {
        chain.through = through;
        self.keep(&chain.place, through);
    }

    /// A place that cannot be kept costs nothing now; after a new start some records arrive twice.
    fn keep(&self, place: &Place, through: i64) {
        if let Err(error) = place.keep(through) {
            self.tally.failed(&failed(format!("how far the records were carried cannot be kept: {error}")));
        }
    }
}

fn age(oldest: Option<&Row>) -> Duration {
    let made = oldest.and_then(|row| u64::try_from(row.at).ok()).map(Duration::from_millis);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    made.map_or(Duration::ZERO, |made| now.saturating_sub(made))
}
