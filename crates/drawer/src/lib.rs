//! SQLite files of our own: made for their owner alone, and opened with a write-ahead log, whoever else does so at the
//! same moment.
//!
//! # Invariants
//!
//! * Nobody but the owner can read what is made here, the log and its map included: SQLite gives them the rights of the
//!   file.
//! * Whoever waits for another program waits for so long and no longer.
//! * What is in a file, and what its trouble is called, is the business of whoever opens it.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// Makes the file and the folder it is in, where they are not there yet.
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

/// Opens a file that is there, to look and to change. `patience` is how long another program may hold it; `pragmas` are
/// set besides the write-ahead log.
pub fn open(path: &Path, patience: Duration, pragmas: &str) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(patience)?;
    begin_log(&connection, patience)?;
    connection.execute_batch(pragmas)?;
    Ok(connection)
}

/// Two programs that begin the same log at the same time are told so at once, without the patience they asked for.
fn begin_log(connection: &Connection, patience: Duration) -> rusqlite::Result<()> {
    let until = Instant::now() + patience;
    loop {
        match connection.execute_batch("PRAGMA journal_mode = WAL;") {
            Err(error) if is_busy(&error) && Instant::now() < until => std::thread::sleep(PAUSE),
            begun => return begun,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
