//! The database of approvals and pins as an image that several nodes share.
//!
//! A node works on a copy. A change counts when the image of the version it was made on is replaced by the changed one;
//! if another node was faster, the change is made again on its version. Each change therefore happens once, in one order
//! for all nodes, as in a transaction of one file.

use std::fmt::Debug;
use std::io::Cursor;
use std::sync::Arc;
use std::time::Duration;

use failwell_backoff::Backoff;
use failwell_fault::{Fault, OrFault, reason};
use parking_lot::Mutex;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::consent_file::{in_transaction, migrate};

/// Attempts to make one change while other nodes make theirs.
const MOST_TRIES: u32 = 40;
/// The delay before another attempt.
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(5), Duration::from_millis(20));

/// Where the image is. Versions count from 1; 0 means that there is no image.
pub trait SharedImage: Debug + Send + Sync + 'static {
    /// The current image, or `None` if its version is `known`.
    fn load(&self, known: u64) -> Result<Option<VersionedImage>, Fault>;
    /// Replaces the image of version `before` by the next one. Returns false if there is another version by now.
    fn replace(&self, before: u64, bytes: &[u8]) -> Result<bool, Fault>;
}

#[derive(Debug)]
pub struct VersionedImage {
    pub version: u64,
    pub bytes: Vec<u8>,
}

/// A node's copy of the image.
#[derive(Debug)]
pub(crate) struct SharedCopy {
    image: Arc<dyn SharedImage>,
    state: Mutex<CopyState>,
}

#[derive(Debug, Default)]
struct CopyState {
    version: u64,
    connection: Option<Connection>,
}

impl SharedCopy {
    pub(crate) fn new(image: Arc<dyn SharedImage>) -> SharedCopy {
        SharedCopy { image, state: Mutex::default() }
    }

    /// Makes a change that counts for all nodes.
    pub(crate) fn change<T>(
        &self,
        work: impl Fn(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Fault> {
        let mut state = self.state.lock();
        for tries in 1..=MOST_TRIES {
            let version = self.refresh(&mut state)?;
            let connection = state.connection.as_mut().or_fault(&reason::POLICY_UNDECIDED)?;
            let before = connection.total_changes();
            let done = in_transaction(connection, &work).or_fault(&reason::POLICY_UNDECIDED)?;
            if connection.total_changes() == before {
                return Ok(done);
            }
            let bytes = connection.serialize("main").or_fault(&reason::POLICY_UNDECIDED)?.to_vec();
            let replaced = self.image.replace(version, &bytes);
            if matches!(replaced, Ok(true)) {
                state.version = version + 1;
                return Ok(done);
            }
            // The copy has a change that does not count.
            *state = CopyState::default();
            replaced?;
            std::thread::sleep(BACKOFF.delay(tries));
        }
        Err(Fault::new(&reason::POLICY_UNDECIDED).note("shared", "other nodes change it all the time"))
    }

    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Fault> {
        let mut state = self.state.lock();
        self.refresh(&mut state)?;
        let connection = state.connection.as_ref().or_fault(&reason::POLICY_UNDECIDED)?;
        work(connection).or_fault(&reason::POLICY_UNDECIDED)
    }

    /// What a change would return, on the last known image. `None` if there is none.
    pub(crate) fn preview<T>(&self, work: impl Fn(&Transaction<'_>) -> rusqlite::Result<T>) -> Option<T> {
        let mut state = self.state.lock();
        let connection = state.connection.as_mut()?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).ok()?;
        // Dropped without a commit, so nothing changes.
        work(&transaction).ok()
    }

    /// Fetches the image if it has changed. Returns its version.
    fn refresh(&self, state: &mut CopyState) -> Result<u64, Fault> {
        match self.image.load(state.version)? {
            // The image was lost: the next change stores this copy again.
            Some(VersionedImage { version: 0, .. }) if state.connection.is_some() => state.version = 0,
            Some(VersionedImage { version, bytes }) => {
                let connection = open(&bytes).or_fault(&reason::POLICY_UNDECIDED)?;
                *state = CopyState { version, connection: Some(connection) };
            }
            None if state.connection.is_none() => {
                state.connection = Some(open(&[]).or_fault(&reason::POLICY_UNDECIDED)?);
            }
            None => {}
        }
        Ok(state.version)
    }
}

/// A database in memory with the contents of an image.
fn open(bytes: &[u8]) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    if !bytes.is_empty() {
        connection.deserialize_read_exact("main", Cursor::new(bytes), bytes.len(), false)?;
    }
    migrate(&mut connection)?;
    Ok(connection)
}
