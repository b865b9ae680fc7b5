//! Replicas of the ledger. If the operator requires it, a response waits until they have its record.

use tokio::sync::watch;
use tokio::time::Instant;

/// The replication state of one replica, as the ledger sees it.
#[derive(Debug, Clone)]
pub struct Replica {
    name: &'static str,
    state: watch::Receiver<ReplicaState>,
}

/// The replica's side: it confirms records.
#[derive(Debug)]
pub struct ReplicaAck(watch::Sender<ReplicaState>);

#[derive(Debug, Clone, Copy)]
struct ReplicaState {
    through: i64,
    works: bool,
}

impl Replica {
    /// Creates a replica that has confirmed no record yet.
    pub fn new(name: &'static str) -> (Replica, ReplicaAck) {
        let (sender, state) = watch::channel(ReplicaState { through: 0, works: true });
        (Replica { name, state }, ReplicaAck(sender))
    }

    pub(crate) fn works(&self) -> bool {
        self.state.borrow().works
    }

    /// The note for the operator when the replica does not have a record.
    pub(crate) fn missing(&self) -> String {
        format!("{} does not have the record; the log says why", self.name)
    }

    /// Waits until the replica has all records up to `seq`. Returns false at the deadline, or when the
    /// replica fails.
    pub(crate) async fn has(&self, seq: i64, until: Instant) -> bool {
        let mut state = self.state.clone();
        let confirmed = state.wait_for(|state| state.through >= seq || !state.works);
        matches!(tokio::time::timeout_at(until, confirmed).await, Ok(Ok(state)) if state.through >= seq)
    }
}

impl ReplicaAck {
    /// Confirms all records up to this sequence number.
    pub fn confirm(&self, through: i64) {
        self.0.send_if_modified(|state| {
            let news = through > state.through || !state.works;
            *state = ReplicaState { through: through.max(state.through), works: true };
            news
        });
    }

    /// Reports that the replica takes no records at present.
    pub fn fail(&self) {
        self.0.send_if_modified(|state| std::mem::replace(&mut state.works, false));
    }
}

#[cfg(test)]
mod tests {
    use super::Replica;
    use std::time::Duration;
    use tokio::time::Instant;

    #[test]
    fn a_replica_is_waited_for_while_it_works() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let (replica, ack) = Replica::new("postgres");
            let soon = || Instant::now() + Duration::from_millis(20);
            assert!(!replica.has(3, soon()).await);
            ack.confirm(3);
            assert!(replica.has(3, soon()).await && !replica.has(4, soon()).await);
            ack.fail();
            assert!(!replica.works() && !replica.has(4, Instant::now() + Duration::from_secs(60)).await);
            assert!(replica.has(2, soon()).await, "what it saw it saw");
            ack.confirm(4);
            assert!(replica.works() && replica.has(4, soon()).await);
        });
    }
}
