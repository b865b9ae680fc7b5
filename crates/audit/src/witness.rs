//! Somebody else who has the records too. Where the operator wants it so, no answer leaves without them.

use tokio::sync::watch;
use tokio::time::Instant;

/// What a witness has seen, as the ledger asks it.
#[derive(Debug, Clone)]
pub struct Witness {
    name: &'static str,
    seen: watch::Receiver<Seen>,
}

/// The witness's own end.
#[derive(Debug)]
pub struct Testimony(watch::Sender<Seen>);

#[derive(Debug, Clone, Copy)]
struct Seen {
    through: i64,
    works: bool,
}

impl Witness {
    /// A witness of this name, which has seen nothing yet.
    pub fn new(name: &'static str) -> (Witness, Testimony) {
        let (told, seen) = watch::channel(Seen { through: 0, works: true });
        (Witness { name, seen }, Testimony(told))
    }

    pub(crate) fn works(&self) -> bool {
        self.seen.borrow().works
    }

    /// What the operator reads when it did not see a record.
    pub(crate) fn missing(&self) -> String {
        format!("{} does not have the record; the log says why", self.name)
    }

    /// Whether it has everything up to this number, or will in time. One that fails meanwhile is not waited for.
    pub(crate) async fn has(&self, seq: i64, until: Instant) -> bool {
        let mut seen = self.seen.clone();
        let settled = seen.wait_for(|seen| seen.through >= seq || !seen.works);
        matches!(tokio::time::timeout_at(until, settled).await, Ok(Ok(seen)) if seen.through >= seq)
    }
}

impl Testimony {
    /// It has everything up to this number.
    pub fn seen(&self, through: i64) {
        self.0.send_if_modified(|seen| {
            let news = through > seen.through || !seen.works;
            *seen = Seen { through: through.max(seen.through), works: true };
            news
        });
    }

    /// It cannot take anything now.
    pub fn fails(&self) {
        self.0.send_if_modified(|seen| std::mem::replace(&mut seen.works, false));
    }
}

#[cfg(test)]
mod tests {
    use super::Witness;
    use std::time::Duration;
    use tokio::time::Instant;

    #[test]
    fn a_witness_is_waited_for_while_it_works() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let (witness, testimony) = Witness::new("postgres");
            let soon = || Instant::now() + Duration::from_millis(20);
            assert!(!witness.has(3, soon()).await);
            testimony.seen(3);
            assert!(witness.has(3, soon()).await && !witness.has(4, soon()).await);
            testimony.fails();
            assert!(!witness.works() && !witness.has(4, Instant::now() + Duration::from_secs(60)).await);
            assert!(witness.has(2, soon()).await, "what it saw it saw");
            testimony.seen(4);
            assert!(witness.works() && witness.has(4, soon()).await);
        });
    }
}
