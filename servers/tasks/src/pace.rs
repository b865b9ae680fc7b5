//! How fast requests follow each other. The service allows one a second on average for each key, three at once, and
//! delays or refuses the rest; so everybody with the key on this machine stands in one line, kept in a small file.
//!
//! The file holds one moment: when the bucket will be full again. A caller reserves its place by moving that moment on,
//! under a lock, and then waits for its turn.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex as Plain, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use failwell_fault::{Fault, Retry, reason};
use tokio::time::Instant;

/// Nine requests in ten seconds: a little less than is allowed, because clocks and ways differ.
const INTERVAL: Nanos = 1_111_111_112;
/// How many may go at once.
const BURST: Nanos = 3;
/// A longer wait is refused.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// How long the lock may be held by others: it guards a few microseconds of work.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);

/// Since the epoch.
type Nanos = i128;

/// The line.
pub(crate) struct Pace(Kind);

enum Kind {
    Free,
    /// Where the file cannot be used, the line is this program's own.
    Lined {
        file: Option<PathBuf>,
        own: Plain<Nanos>,
    },
}

/// A place in the line, and what was known when it was taken.
pub(crate) struct Place {
    turn: Nanos,
    /// When the bucket was full before this place was taken.
    before: Nanos,
}

impl Pace {
    pub(crate) fn free() -> Pace {
        Pace(Kind::Free)
    }

    /// The line of everybody who names this file.
    pub(crate) fn shared(file: Option<&Path>) -> Pace {
        Pace(Kind::Lined { file: file.map(Path::to_owned), own: Plain::new(0) })
    }

    /// Waits for this request's turn.
    pub(crate) async fn turn(&self) -> Result<Option<Place>, Fault> {
        if matches!(self.0, Kind::Free) {
            return Ok(None);
        }
        let place = self.with(|full| reserve(full, now())).await?;
        let wait = u64::try_from(place.turn - now()).unwrap_or(0);
        tokio::time::sleep(Duration::from_nanos(wait)).await;
        Ok(Some(place))
    }

    /// The request leaves now, perhaps later than its turn: the bucket is counted from when it really leaves.
    pub(crate) async fn leaves(&self, place: Option<Place>) {
        let Some(place) = place else { return };
        let late = now() - place.turn.max(place.before);
        if late > 0 {
            // What cannot be written costs a little of the margin, not the request.
            let _ = self.with(|full| Ok(((), full + late))).await;
        }
    }

    async fn with<T>(&self, change: impl Fn(Nanos) -> Result<(T, Nanos), Fault>) -> Result<T, Fault> {
        let Kind::Lined { file, own } = &self.0 else { return change(0).map(|(result, _)| result) };
        let file = match file {
            Some(path) => locked(path).await.ok(),
            None => None,
        };
        let mut own = own.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut file) = file else {
            let (result, later) = change(*own)?;
            *own = later;
            return Ok(result);
        };
        let (result, later) = change(read(&mut file))?;
        // What cannot be written is remembered here, at least.
        *own = later;
        let _ = write(&mut file, later);
        Ok(result)
    }
}

/// The next free place.
fn reserve(full: Nanos, now: Nanos) -> Result<(Place, Nanos), Fault> {
    // A moment further off than anybody may wait was written under another clock.
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
    Ok((Place { turn, before: full }, turn.max(full) + INTERVAL))
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

/// The moment in the file; one that nobody can read is long ago.
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
