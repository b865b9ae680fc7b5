//! Creates and opens SQLite files: readable by their owner only, with a write-ahead log, safe for concurrent
//! opening.
//!
//! # Invariants
//!
//! * Only the owner can read a created file. SQLite gives the log and the shared-memory file the same
//!   permissions.
//! * Waiting for another process has a deadline.
//! * The caller owns the schema and classifies errors.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use failwell_backoff::Backoff;
use rusqlite::{Connection, ErrorCode, OpenFlags};

/// The delay before another attempt.
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(10), Duration::from_millis(80));

/// Creates the file and its folder if missing.
pub fn make(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(|_| ())
}

/// Opens an existing file for reading and writing. `patience` limits the wait for locks of other processes.
/// `pragmas` are executed after the write-ahead log is on.
pub fn open(path: &Path, patience: Duration, pragmas: &str) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(patience)?;
    begin_log(&connection, patience)?;
    connection.execute_batch(pragmas)?;
    Ok(connection)
}

/// Turns the write-ahead log on. SQLite reports a conflict between two processes at once and ignores the busy
/// timeout, so this function retries.
fn begin_log(connection: &Connection, patience: Duration) -> rusqlite::Result<()> {
    let (until, mut failures) = (Instant::now() + patience, 0);
    loop {
        match connection.execute_batch("PRAGMA journal_mode = WAL;") {
            Err(error) if is_busy(&error) && Instant::now() < until => {
                failures += 1;
                std::thread::sleep(BACKOFF.delay(failures));
            }
            begun => return begun,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
