//! Reads a resource, or a range of it, in pieces.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

use bytes::Bytes;
use failwell_fault::{Fault, reason};
use tokio::task::spawn_blocking;

use crate::blob_store::errors::{disk_fault, task_fault};
use crate::blob_store::stored_file::StoredFile;

/// Maximum bytes of one piece.
const PIECE: u64 = 256 * 1024;

/// An open resource. It can be read to the end even if it is deleted meanwhile.
#[derive(Debug)]
pub struct FileReader {
    /// The resource's metadata.
    pub stored: StoredFile,
    file: Option<File>,
    left: Range<u64>,
}

impl FileReader {
    pub(crate) fn new(stored: StoredFile, file: File) -> FileReader {
        let left = 0..stored.size;
        FileReader { stored, file: Some(file), left }
    }

    /// Restricts reading to a range; refused if the range is empty.
    pub fn only(mut self, range: Range<u64>) -> Result<FileReader, Fault> {
        let end = range.end.min(self.stored.size);
        if range.start >= end {
            return Err(Fault::new(&reason::SHELF_RANGE).fact("size", self.stored.size));
        }
        self.left = range.start..end;
        Ok(self)
    }

    /// The range that is still unread.
    pub fn left(&self) -> Range<u64> {
        self.left.clone()
    }

    /// The next piece; `None` at the end.
    pub async fn piece(&mut self) -> Result<Option<Bytes>, Fault> {
        if self.left.is_empty() {
            return Ok(None);
        }
        let mut file = self.file.take().ok_or_else(|| Fault::new(&reason::SHELF_TROUBLE))?;
        let (start, end) = (self.left.start, self.left.end.min(self.left.start + PIECE));
        let read = spawn_blocking(move || read_at(&mut file, start..end).map(|bytes| (file, bytes)));
        let (file, bytes) = read.await.map_err(task_fault)??;
        self.file = Some(file);
        self.left.start = end;
        Ok(Some(bytes))
    }

    /// Reads the unread range at once. Blocks the thread.
    pub(crate) fn rest(mut self) -> Result<(StoredFile, Bytes), Fault> {
        let mut file = self.file.take().ok_or_else(|| Fault::new(&reason::SHELF_TROUBLE))?;
        Ok((self.stored, read_at(&mut file, self.left)?))
    }
}

fn read_at(file: &mut File, range: Range<u64>) -> Result<Bytes, Fault> {
    let length = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
    let mut bytes = vec![0; length];
    file.seek(SeekFrom::Start(range.start)).map_err(disk_fault)?;
    file.read_exact(&mut bytes).map_err(disk_fault)?;
    Ok(bytes.into())
}
