//! Log lines in memory.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// Keeps everything that a journal writes, for tests: pass a clone to [`Journal::to`](crate::Journal::to).
#[derive(Debug, Clone, Default)]
pub struct MemoryLog(Arc<Mutex<Vec<u8>>>);

impl MemoryLog {
    /// The lines written so far. [Flush](crate::Journal::flush) the journal first.
    pub fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Write for MemoryLog {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
