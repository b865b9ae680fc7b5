use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use failwell_audit::{Journal, Style};

/// A journal kept in memory, and what was written to it.
#[derive(Debug, Clone)]
pub struct Written {
    journal: Journal,
    bytes: Buffer,
}

#[derive(Debug, Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Default for Written {
    fn default() -> Written {
        let bytes = Buffer::default();
        Written { journal: Journal::to(Style::Json, bytes.clone()), bytes }
    }
}

impl Written {
    /// Where to write.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Everything the operator read so far.
    pub fn text(&self) -> String {
        self.journal.flush();
        String::from_utf8_lossy(&self.bytes.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}
