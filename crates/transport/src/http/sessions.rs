//! The sessions of the session era. Each is bound to the caller that opened it.

pub(super) mod shared;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use failwell_fault::{Fault, OrFault, reason};
use failwell_pipeline::{FrameRetention, Session, Stream};
use failwell_rpc::Caller;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// Maximum number of streams that a session keeps for resumption.
const MOST_STREAMS: usize = 32;

/// Sessions by their id.
type SessionTable = HashMap<String, Arc<SessionEntry>>;

#[derive(Debug)]
pub(super) struct Sessions {
    table: Mutex<SessionTable>,
    most: usize,
    most_per_caller: usize,
    idle: Duration,
    numbers: Numbers,
}

/// The numbering of a session's streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    Plain,
    /// From a random start, so that numbers of different nodes do not collide.
    Apart,
}

/// A session and its resumable streams.
#[derive(Debug)]
pub(super) struct SessionEntry {
    pub(super) session: Arc<Session>,
    streams: Mutex<Streams>,
    used: Mutex<Instant>,
    readers: AtomicUsize,
}

/// Marks a session as in use while a stream of it is read.
#[derive(Debug)]
pub(super) struct Reader(Arc<SessionEntry>);

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.readers.fetch_sub(1, Ordering::Relaxed);
        *self.0.used.lock() = Instant::now();
    }
}

#[derive(Debug, Default)]
struct Streams {
    next: u64,
    streams: BTreeMap<u64, (Arc<Stream>, CancellationToken)>,
}

impl Streams {
    fn make_room(&mut self) {
        if self.streams.len() > MOST_STREAMS
            && let Some(oldest) = self.streams.keys().copied().find(|streams| *streams != 0)
        {
            self.streams.remove(&oldest);
        }
    }
}

impl Sessions {
    /// Creates a table for `most` sessions; a named caller may have `most_per_caller` of them.
    pub(super) fn new((most, most_per_caller): (usize, usize), idle: Duration, numbers: Numbers) -> Sessions {
        Sessions { table: Mutex::default(), most, most_per_caller, idle, numbers }
    }

    /// Creates a session that is not in the table yet; it is added after a successful handshake.
    pub(super) fn prepare(&self, caller: &Caller) -> Result<Arc<SessionEntry>, Fault> {
        let mut random = [0u8; 16];
        getrandom::fill(&mut random).or_fault(&reason::SERVER_BUG)?;
        let id = format!("{:032x}", u128::from_be_bytes(random));
        let session = Session::new(id, caller.clone(), FrameRetention::Recent);
        if self.numbers == Numbers::Apart {
            session.number_apart();
        }
        Ok(self.entry_of(session))
    }

    fn entry_of(&self, session: Arc<Session>) -> Arc<SessionEntry> {
        let standalone = (session.outbound.clone(), CancellationToken::new());
        let next = match self.numbers {
            Numbers::Plain => 1,
            Numbers::Apart => (u64::from(getrandom::u32().unwrap_or(1)) << 20) + 1,
        };
        let streams = Streams { next, streams: BTreeMap::from([(0, standalone)]) };
        let used = Mutex::new(Instant::now());
        Arc::new(SessionEntry { session, streams: Mutex::new(streams), used, readers: AtomicUsize::new(0) })
    }

    /// Adds a session that began on another node, unless it is already here.
    pub(super) fn adopt(&self, session: Arc<Session>) -> Result<(Arc<SessionEntry>, SessionOrigin), Fault> {
        if let Some(known) = self.peek(&session.id) {
            return Ok((known, SessionOrigin::Before));
        }
        let entry = self.entry_of(session);
        self.entry(&entry)?;
        Ok((entry, SessionOrigin::Now))
    }

    /// A session of this node, regardless of its caller.
    pub(super) fn peek(&self, id: &str) -> Option<Arc<SessionEntry>> {
        self.table.lock().get(id).filter(|entry| !entry.session.ended.is_cancelled()).cloned()
    }

    /// Adds a session, if there is space.
    pub(super) fn entry(&self, entry: &Arc<SessionEntry>) -> Result<(), Fault> {
        let mut table = self.table.lock();
        if table.len() >= self.most {
            self.sweep(&mut table);
        }
        if table.len() >= self.most {
            return Err(Fault::new(&reason::HTTP_TOO_MANY_SESSIONS).fact("limit", self.most));
        }
        self.check_share(&mut table, &entry.session.caller)?;
        table.insert(entry.session.id.clone(), entry.clone());
        Ok(())
    }

    /// Refuses a named caller that has too many sessions. Callers without a name share the whole table.
    fn check_share(&self, table: &mut SessionTable, caller: &Caller) -> Result<(), Fault> {
        let limit = self.most_per_caller;
        let is_full = |table: &SessionTable| {
            // Only a large table can have so many of one caller.
            let own = || table.values().filter(|entry| entry.session.caller == *caller).count();
            table.len() >= limit && own() >= limit
        };
        if *caller == Caller::anonymous() || !is_full(table) {
            return Ok(());
        }
        self.sweep(table);
        if is_full(table) {
            return Err(Fault::new(&reason::HTTP_TOO_MANY_SESSIONS).fact("limit", limit));
        }
        Ok(())
    }

    /// Finds a session of this caller. A session of another caller gives the same error as one that
    /// never existed.
    pub(super) fn find(&self, id: &str, caller: &Caller) -> Result<Arc<SessionEntry>, Fault> {
        let found = self.table.lock().get(id).cloned();
        let entry =
            found.filter(|entry| entry.session.caller == *caller && !entry.session.ended.is_cancelled());
        let entry = entry.ok_or_else(|| Fault::new(&reason::HTTP_SESSION_LOST))?;
        *entry.used.lock() = Instant::now();
        Ok(entry)
    }

    pub(super) fn end(&self, entry: &SessionEntry) {
        self.table.lock().remove(&entry.session.id);
        entry.session.end();
    }

    /// Ends sessions that have been idle for too long.
    pub(super) fn sweep_idle(&self) {
        self.sweep(&mut self.table.lock());
    }

    fn sweep(&self, table: &mut SessionTable) {
        table.retain(|_, entry| {
            let keep = entry.readers.load(Ordering::Relaxed) > 0 || entry.used.lock().elapsed() < self.idle;
            if !keep {
                entry.session.end();
            }
            keep
        });
    }

    /// Ends the streams of notifications, so that clients that only wait for them can disconnect.
    pub(super) fn finish_notices(&self) {
        self.table.lock().values().for_each(|entry| entry.session.outbound.finish());
    }

    pub(super) fn end_all(&self) {
        for (_, entry) in self.table.lock().drain() {
            entry.session.end();
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionOrigin {
    Before,
    Now,
}

impl SessionEntry {
    /// Stores a stream of another node under its number there.
    pub(super) fn keep_as(&self, number: u64, stream: &Arc<Stream>) -> CancellationToken {
        let mut streams = self.streams.lock();
        streams.make_room();
        let reader = CancellationToken::new();
        streams.streams.insert(number, (stream.clone(), reader.clone()));
        reader
    }

    /// Counts a reader until it is dropped.
    pub(super) fn reader(self: &Arc<Self>) -> Reader {
        self.readers.fetch_add(1, Ordering::Relaxed);
        Reader(self.clone())
    }

    /// Stores a stream for resumption and returns its number. The oldest one is evicted if needed.
    pub(super) fn keep(&self, stream: &Arc<Stream>) -> (u64, CancellationToken) {
        let mut streams = self.streams.lock();
        let number = streams.next;
        streams.next += 1;
        streams.make_room();
        let reader = CancellationToken::new();
        streams.streams.insert(number, (stream.clone(), reader.clone()));
        (number, reader)
    }

    /// Takes a stream over from its previous reader.
    pub(super) fn take_over(&self, number: u64) -> Option<(Arc<Stream>, CancellationToken)> {
        let mut streams = self.streams.lock();
        let (stream, reader) = streams.streams.get_mut(&number)?;
        reader.cancel();
        *reader = CancellationToken::new();
        Some((stream.clone(), reader.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Numbers, Sessions};
    use failwell_rpc::Caller;
    use std::time::Duration;

    #[test]
    fn idle_sessions_end_read_ones_stay_and_foreign_ones_are_lost() {
        let (caller, other) = (Caller::anonymous(), Caller::keyholder("other"));
        let sessions = Sessions::new((2, 2), Duration::ZERO, Numbers::Plain);
        let (idle, read) = (sessions.prepare(&caller).expect("one"), sessions.prepare(&caller).expect("two"));
        sessions.entry(&idle).expect("room");
        sessions.entry(&read).expect("room");
        assert!(sessions.find(&idle.session.id, &other).is_err(), "somebody else's");
        let reader = read.reader();
        sessions.sweep_idle();
        assert!(idle.session.ended.is_cancelled() && sessions.find(&idle.session.id, &caller).is_err());
        assert!(sessions.find(&read.session.id, &caller).is_ok(), "somebody reads it");
        drop(reader);
        sessions.sweep_idle();
        assert!(read.session.ended.is_cancelled());
    }

    #[test]
    fn a_full_table_refuses_until_a_session_is_idle() {
        let caller = Caller::anonymous();
        let sessions = Sessions::new((1, 1), Duration::from_secs(60), Numbers::Plain);
        let (first, second) =
            (sessions.prepare(&caller).expect("one"), sessions.prepare(&caller).expect("two"));
        sessions.entry(&first).expect("room");
        let refused = sessions.entry(&second).expect_err("full");
        assert_eq!(refused.reason().id, "http/TOO_MANY_SESSIONS");
        sessions.end(&first);
        sessions.entry(&second).expect("room again");
    }

    #[test]
    fn a_named_caller_has_a_share() {
        let (ann, bob) = (Caller::keyholder("ann"), Caller::keyholder("bob"));
        let sessions = Sessions::new((10, 1), Duration::from_secs(60), Numbers::Plain);
        let enter = |caller: &Caller| sessions.entry(&sessions.prepare(caller).expect("one"));
        enter(&ann).expect("room");
        let refused = enter(&ann).expect_err("one is enough");
        assert_eq!(refused.reason().id, "http/TOO_MANY_SESSIONS");
        enter(&bob).expect("bob has his own");
        enter(&Caller::anonymous()).expect("room");
        enter(&Caller::anonymous()).expect("callers without a name share the rest");
    }
}
