//! Classifies errors of the file system and the index.

use std::io::{self, ErrorKind};

use failwell_fault::{Fault, Reason, reason};
use rusqlite::ErrorCode;

#[track_caller]
pub(crate) fn disk_fault(error: io::Error) -> Fault {
    let full =
        matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge);
    Fault::new(which(full)).because(error)
}

#[track_caller]
pub(crate) fn index_fault(error: rusqlite::Error) -> Fault {
    let full = error.sqlite_error_code() == Some(ErrorCode::DiskFull);
    Fault::new(which(full)).because(error)
}

/// A blocking task that panicked or was cancelled.
#[track_caller]
pub(crate) fn task_fault(error: tokio::task::JoinError) -> Fault {
    Fault::new(&reason::SHELF_TROUBLE).because(error)
}

fn which(full: bool) -> &'static Reason {
    if full { &reason::SHELF_DISK_FULL } else { &reason::SHELF_TROUBLE }
}
