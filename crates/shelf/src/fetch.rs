//! Giving a resource out, all of it or a part, piece by piece.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

use bytes::Bytes;
use failwell_fault::{Fault, reason};
use tokio::task::spawn_blocking;

use crate::kept::Kept;
use crate::trouble::{of_disk, of_task};

/// The most bytes of one piece.
const PIECE: u64 = 256 * 1024;

/// A resource that is open: it can be read to its end even if it is removed meanwhile.
#[derive(Debug)]
pub struct Fetched {
    /// What is known of it.
    pub kept: Kept,
    file: Option<File>,
    left: Range<u64>,
}

impl Fetched {
    pub(crate) fn new(kept: Kept, file: File) -> Fetched {
        let left = 0..kept.size;
        Fetched { kept, file: Some(file), left }
    }

    /// Only some of the bytes; refused when none of them is there.
    pub fn only(mut self, range: Range<u64>) -> Result<Fetched, Fault> {
        let end = range.end.min(self.kept.size);
        if range.start >= end {
            return Err(Fault::new(&reason::SHELF_RANGE).fact("size", self.kept.size));
        }
        self.left = range.start..end;
        Ok(self)
    }

    /// The bytes that are still to come.
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
        let (file, bytes) = read.await.map_err(of_task)??;
        self.file = Some(file);
        self.left.start = end;
        Ok(Some(bytes))
    }

    /// All that is still to come, at once; for work that may wait.
    pub(crate) fn rest(mut self) -> Result<(Kept, Bytes), Fault> {
        let mut file = self.file.take().ok_or_else(|| Fault::new(&reason::SHELF_TROUBLE))?;
        Ok((self.kept, read_at(&mut file, self.left)?))
    }
}

fn read_at(file: &mut File, range: Range<u64>) -> Result<Bytes, Fault> {
    let length = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
    let mut bytes = vec![0; length];
    file.seek(SeekFrom::Start(range.start)).map_err(of_disk)?;
    file.read_exact(&mut bytes).map_err(of_disk)?;
    Ok(bytes.into())
}
