use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::{CarrierHealth, Tally};
use crate::journal::Journal;

/// A carrier's handle to one sort of thing it carries. What carries ends when its handle is gone.
pub struct Way {
    tally: Arc<Tally>,
    hurries: mpsc::Sender<Hurry>,
}

/// Somebody waits for everything to arrive.
pub struct Hurry(SyncSender<()>);

impl Hurry {
    /// Everything has arrived, or what can has.
    pub fn done(self) {
        // Who lost patience need not know.
        let _ = self.0.try_send(());
    }
}

impl Way {
    /// A way to there, with what is counted about it and those who are in a hurry.
    pub fn new(to: &'static str, journal: &Journal) -> (Way, Arc<Tally>, mpsc::Receiver<Hurry>) {
        let tally = Arc::new(Tally::new(to, journal.clone()));
        let (hurries, asked) = mpsc::channel(4);
        (Way { tally: tally.clone(), hurries }, tally, asked)
    }

    /// How it is doing.
    pub fn health(&self) -> CarrierHealth {
        self.tally.health()
    }

    /// Waits until everything has arrived on all of them, at most for so long.
    pub fn hurry(all: &[Way], patience: Duration) {
        let until = Instant::now() + patience;
        let ask = |way: &Way| {
            let (done, wait) = std::sync::mpsc::sync_channel(1);
            way.hurries.try_send(Hurry(done)).ok().map(|()| wait)
        };
        for wait in all.iter().filter_map(ask).collect::<Vec<_>>() {
            let _ = wait.recv_timeout(until.saturating_duration_since(Instant::now()));
        }
    }
}
