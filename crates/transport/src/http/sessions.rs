//! The sessions of the session era, each bound to the caller who opened it.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use failwell_fault::{Fault, OrFault, reason};
use failwell_policy::Caller;
use failwell_server::{Keep, Session, Stream};
use tokio_util::sync::CancellationToken;

/// The most streams one session keeps for a client that comes back.
const MOST_STREAMS: usize = 32;

/// The table of sessions.
#[derive(Debug)]
pub(super) struct Sessions {
    table: Mutex<HashMap<String, Arc<Seat>>>,
    most: usize,
    idle: Duration,
    numbers: Numbers,
}

/// How the streams of a session are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// From one on.
    Plain,
    /// Apart from those of other nodes.
    Apart,
}

/// A session with the streams it can come back to.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) session: Arc<Session>,
    streams: Mutex<Streams>,
    used: Mutex<Instant>,
    readers: AtomicUsize,
}

/// Somebody reads a stream of a session, which therefore is not idle.
#[derive(Debug)]
pub(super) struct Reader(Arc<Seat>);

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.readers.fetch_sub(1, Ordering::Relaxed);
        *lock(&self.0.used) = Instant::now();
    }
}

#[derive(Debug, Default)]
struct Streams {
    next: u64,
    kept: BTreeMap<u64, (Arc<Stream>, CancellationToken)>,
}

impl Streams {
    fn make_room(&mut self) {
        if self.kept.len() > MOST_STREAMS
            && let Some(oldest) = self.kept.keys().copied().find(|kept| *kept != 0)
        {
            self.kept.remove(&oldest);
        }
    }
}

impl Sessions {
    pub(super) fn new(most: usize, idle: Duration, numbers: Numbers) -> Sessions {
        Sessions { table: Mutex::default(), most, idle, numbers }
    }

    /// A new session that is not in the table yet: it gets there when its handshake worked.
    pub(super) fn prepare(&self, caller: &Caller) -> Result<Arc<Seat>, Fault> {
        let mut random = [0u8; 16];
        getrandom::fill(&mut random).or_fault(&reason::SERVER_BUG)?;
        let id: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let session = Session::new(id, caller.clone(), Keep::Recent);
        if self.numbers == Numbers::Apart {
            session.number_apart();
        }
        Ok(self.seat_of(session))
    }

    fn seat_of(&self, session: Arc<Session>) -> Arc<Seat> {
        let standalone = (session.outbound.clone(), CancellationToken::new());
        let next = match self.numbers {
            Numbers::Plain => 1,
            Numbers::Apart => (u64::from(getrandom::u32().unwrap_or(1)) << 20) + 1,
        };
        let streams = Streams { next, kept: BTreeMap::from([(0, standalone)]) };
        let used = Mutex::new(Instant::now());
        Arc::new(Seat { session, streams: Mutex::new(streams), used, readers: AtomicUsize::new(0) })
    }

    /// Takes in a session that began on another node, unless it is here by now.
    pub(super) fn adopt(&self, session: Arc<Session>) -> Result<(Arc<Seat>, Adopted), Fault> {
        if let Some(known) = self.peek(&session.id) {
            return Ok((known, Adopted::Before));
        }
        let seat = self.seat_of(session);
        self.seat(&seat)?;
        Ok((seat, Adopted::Now))
    }

    /// A session that is here, whoever asks.
    pub(super) fn peek(&self, id: &str) -> Option<Arc<Seat>> {
        lock(&self.table).get(id).filter(|seat| !seat.session.ended.is_cancelled()).cloned()
    }

    /// Takes a session in, once there is room for it.
    pub(super) fn seat(&self, seat: &Arc<Seat>) -> Result<(), Fault> {
        let mut table = lock(&self.table);
        if table.len() >= self.most {
            self.sweep(&mut table);
        }
        if table.len() >= self.most {
            return Err(Fault::new(&reason::HTTP_TOO_MANY_SESSIONS).fact("limit", self.most));
        }
        table.insert(seat.session.id.clone(), seat.clone());
        Ok(())
    }

    /// A caller's own session. Somebody else's is as lost as one that never was.
    pub(super) fn find(&self, id: &str, caller: &Caller) -> Result<Arc<Seat>, Fault> {
        let found = lock(&self.table).get(id).cloned();
        let seat = found.filter(|seat| seat.session.caller == *caller && !seat.session.ended.is_cancelled());
        let seat = seat.ok_or_else(|| Fault::new(&reason::HTTP_SESSION_LOST))?;
        *lock(&seat.used) = Instant::now();
        Ok(seat)
    }

    pub(super) fn end(&self, seat: &Seat) {
        lock(&self.table).remove(&seat.session.id);
        seat.session.end();
    }

    /// Ends sessions nobody used for long.
    pub(super) fn sweep_idle(&self) {
        self.sweep(&mut lock(&self.table));
    }

    fn sweep(&self, table: &mut HashMap<String, Arc<Seat>>) {
        table.retain(|_, seat| {
            let keep = seat.readers.load(Ordering::Relaxed) > 0 || lock(&seat.used).elapsed() < self.idle;
            if !keep {
                seat.session.end();
            }
            keep
        });
    }

    /// No more notices will come: whoever only waits for them may go.
    pub(super) fn finish_notices(&self) {
        lock(&self.table).values().for_each(|seat| seat.session.outbound.finish());
    }

    pub(super) fn end_all(&self) {
        for (_, seat) in lock(&self.table).drain() {
            seat.session.end();
        }
    }
}

/// When a session was taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Adopted {
    Before,
    Now,
}

impl Seat {
    /// Keeps a stream of another node under the number it has there.
    pub(super) fn keep_as(&self, number: u64, stream: &Arc<Stream>) -> CancellationToken {
        let mut streams = lock(&self.streams);
        streams.make_room();
        let reader = CancellationToken::new();
        streams.kept.insert(number, (stream.clone(), reader.clone()));
        reader
    }

    /// Counts a reader for as long as it reads.
    pub(super) fn reader(self: &Arc<Self>) -> Reader {
        self.readers.fetch_add(1, Ordering::Relaxed);
        Reader(self.clone())
    }

    /// Keeps a stream under a number, so that its reader can come back; the oldest finished one makes room.
    pub(super) fn keep(&self, stream: &Arc<Stream>) -> (u64, CancellationToken) {
        let mut streams = lock(&self.streams);
        let number = streams.next;
        streams.next += 1;
        streams.make_room();
        let reader = CancellationToken::new();
        streams.kept.insert(number, (stream.clone(), reader.clone()));
        (number, reader)
    }

    /// A stream to read on, taken over from whoever read it before.
    pub(super) fn take_over(&self, number: u64) -> Option<(Arc<Stream>, CancellationToken)> {
        let mut streams = lock(&self.streams);
        let (stream, reader) = streams.kept.get_mut(&number)?;
        reader.cancel();
        *reader = CancellationToken::new();
        Some((stream.clone(), reader.clone()))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::{Numbers, Sessions};
    use failwell_policy::Caller;
    use std::time::Duration;

    #[test]
    fn idle_sessions_end_read_ones_stay_and_foreign_ones_are_lost() {
        let (caller, other) = (Caller::anonymous(), Caller::keyholder("other"));
        let sessions = Sessions::new(2, Duration::ZERO, Numbers::Plain);
        let (idle, read) = (sessions.prepare(&caller).expect("one"), sessions.prepare(&caller).expect("two"));
        sessions.seat(&idle).expect("room");
        sessions.seat(&read).expect("room");
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
    fn a_full_table_refuses_until_somebody_idles() {
        let caller = Caller::anonymous();
        let sessions = Sessions::new(1, Duration::from_secs(60), Numbers::Plain);
        let (first, second) =
            (sessions.prepare(&caller).expect("one"), sessions.prepare(&caller).expect("two"));
        sessions.seat(&first).expect("room");
        let refused = sessions.seat(&second).expect_err("full");
        assert_eq!(refused.reason().id, "http/TOO_MANY_SESSIONS");
        sessions.end(&first);
        sessions.seat(&second).expect("room again");
    }
}
