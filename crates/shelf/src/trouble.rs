//! What the disk and the index say, classified once.

use std::io::{self, ErrorKind};

use failwell_fault::{Fault, Reason, reason};
use rusqlite::ErrorCode;

/// Trouble with a file or a folder.
#[track_caller]
pub(crate) fn of_disk(error: io::Error) -> Fault {
    let full =
        matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge);
    Fault::new(which(full)).because(error)
}

/// Trouble with the index.
#[track_caller]
pub(crate) fn of_index(error: rusqlite::Error) -> Fault {
    let full = error.sqlite_error_code() == Some(ErrorCode::DiskFull);
    Fault::new(which(full)).because(error)
}

/// Work beside the requests that did not come to its end.
#[track_caller]
pub(crate) fn of_task(error: tokio::task::JoinError) -> Fault {
    Fault::new(&reason::SHELF_TROUBLE).because(error)
}

fn which(full: bool) -> &'static Reason {
    if full { &reason::SHELF_DISK_FULL } else { &reason::SHELF_TROUBLE }
}
