//! Everything the server was heard to say, kept for the leak scan.

use std::sync::Arc;

use parking_lot::Mutex;

/// Enough to prove a leak; a server that floods is cut here, not kept in memory.
const PIECE_CAP: usize = 256 * 1024;
const PIECES_CAP: usize = 512;

/// A shared recording; every connection writes to the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transcript {
    pieces: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Transcript {
    /// Records one line, event or body.
    pub(crate) fn record(&self, piece: &[u8]) {
        let mut pieces = self.pieces.lock();
        if pieces.len() < PIECES_CAP && !piece.is_empty() {
            pieces.push(piece.get(..PIECE_CAP).unwrap_or(piece).to_vec());
        }
    }

    /// Takes what was heard since the last call.
    pub(crate) fn take(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut *self.pieces.lock())
    }
}
