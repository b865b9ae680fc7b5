//! The pace of requests. The service allows one request per second per key on average, with a burst of three,
//! and delays or refuses further ones. All processes with the key on this machine share one queue, stored in
//! a small file.
//!
//! The file contains one timestamp: when the bucket will be full again. A caller reserves its slot by
//! advancing that timestamp under a lock, and then waits for its turn.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use failwell_fault::{Fault, Retry};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::reason;

/// Nine requests in ten seconds. This is slightly less than allowed, because clocks and network delays
/// differ.
const INTERVAL: Nanos = 1_111_111_112;
/// Maximum number of requests at once.
const BURST: Nanos = 3;
/// A longer wait is refused.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Maximum wait for the file lock. It protects a few microseconds of work.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);

/// Nanoseconds since the epoch.
type Nanos = i128;

pub(crate) struct RequestPacer(PacerKind);

enum PacerKind {
    Free,
    /// If the file is unusable, the queue is local to this process.
    Lined {
        file: Option<PathBuf>,
        own: Mutex<Nanos>,
    },
}

/// A reserved turn.
pub(crate) struct PacerSlot {
    turn: Nanos,
    /// The time when the bucket was full before this reservation.
    before: Nanos,
}

impl RequestPacer {
    pub(crate) fn free() -> RequestPacer {
        RequestPacer(PacerKind::Free)
    }

    /// A pacer shared by all processes that use this file.
    pub(crate) fn shared(file: Option<&Path>) -> RequestPacer {
        RequestPacer(PacerKind::Lined { file: file.map(Path::to_owned), own: Mutex::new(0) })
    }

    /// Waits for the turn of this request.
    pub(crate) async fn turn(&self) -> Result<Option<PacerSlot>, Fault> {
        if matches!(self.0, PacerKind::Free) {
            return Ok(None);
        }
        let place = self.with(|full| reserve(full, now())).await?;
        let wait = u64::try_from(place.turn - now()).unwrap_or(0);
        tokio::time::sleep(Duration::from_nanos(wait)).await;
        Ok(Some(place))
    }

    /// The request leaves now, possibly later than its turn. The bucket counts from the actual time.
    pub(crate) async fn leaves(&self, place: Option<PacerSlot>) {
        let Some(place) = place else { return };
        let late = now() - place.turn.max(place.before);
        if late > 0 {
            // A failed write costs a part of the margin, not the request.
            let _ = self.with(|full| Ok(((), full + late))).await;
        }
    }

    async fn with<T>(&self, change: impl Fn(Nanos) -> Result<(T, Nanos), Fault>) -> Result<T, Fault> {
        let PacerKind::Lined { file, own } = &self.0 else { return change(0).map(|(result, _)| result) };
        let file = match file {
            Some(path) => locked(path).await.ok(),
            None => None,
        };
        let mut own = own.lock();
        let Some(mut file) = file else {
            let (result, later) = change(*own)?;
            *own = later;
            return Ok(result);
        };
        let (result, later) = change(read(&mut file))?;
        // If the file cannot be written, the time is stored in this process.
        *own = later;
        let _ = write(&mut file, later);
        Ok(result)
    }
}

/// Reserves the next slot.
fn reserve(full: Nanos, now: Nanos) -> Result<(PacerSlot, Nanos), Fault> {
    // A time beyond the longest wait comes from another clock.
    let longest = nanos(LONGEST_WAIT) + BURST * INTERVAL;
    let full = if full > now + 10 * longest { now } else { full };
    let turn = now.max(full - (BURST - 1) * INTERVAL);
    let wait = turn - now;
    if wait > nanos(LONGEST_WAIT) {
        let wait = Duration::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX));
        return Err(Fault::new(&reason::TASKS_BUSY)
            .fact("wait_s", wait.as_secs() + 1)
            .retry_as(Retry::After(wait.saturating_sub(LONGEST_WAIT) + Duration::from_secs(1))));
    }
    Ok((PacerSlot { turn, before: full }, turn.max(full) + INTERVAL))
}

fn nanos(duration: Duration) -> Nanos {
    Nanos::try_from(duration.as_nanos()).unwrap_or(Nanos::MAX)
}

fn now() -> Nanos {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, nanos)
}

async fn locked(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    let deadline = Instant::now() + LOCK_PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                return Err(io::ErrorKind::TimedOut.into());
            }
            Err(TryLockError::WouldBlock) => tokio::time::sleep(Duration::from_millis(2)).await,
        }
    }
}

/// The timestamp in the file. An unreadable one counts as long ago.
fn read(file: &mut File) -> Nanos {
    let mut text = String::new();
    match Read::by_ref(file).take(64).read_to_string(&mut text) {
        Ok(_) => text.trim().parse().unwrap_or(0),
        Err(_) => 0,
    }
}

fn write(file: &mut File, full: Nanos) -> io::Result<()> {
    let text = format!("{full}\n");
    file.rewind()?;
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::{BURST, INTERVAL, Nanos, reserve};

    const START: Nanos = 1_700_000_000_000_000_000;

    fn turns(count: usize, mut full: Nanos) -> Vec<Nanos> {
        let mut turns = Vec::new();
        for _ in 0..count {
            let (place, later) = reserve(full, START).expect("a place");
            turns.push((place.turn - START) / 1_000_000);
            full = later;
        }
        turns
    }

    #[test]
    fn three_at_once_then_nine_in_ten_seconds() {
        assert_eq!(turns(6, 0), [0, 0, 0, 1_111, 2_222, 3_333]);
        assert_eq!(turns(3, START + INTERVAL), [0, 0, 1_111]);
    }

    #[test]
    fn the_line_has_an_end_and_a_wrong_clock_is_forgiven() {
        let full = START + BURST * INTERVAL + 61_000_000_000;
        let fault = reserve(full, START).err().expect("refused");
        assert_eq!(fault.reason().id, "tasks/BUSY");
        assert_eq!(turns(1, START + 86_400_000_000_000), [0], "a day ahead is another clock");
    }
}
