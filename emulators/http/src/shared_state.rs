//! The state of an emulator, shared by its connections and its control handle.

use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;

/// The state behind one lock, and when the emulator started.
#[derive(Debug)]
pub struct SharedState<S> {
    state: Mutex<S>,
    /// When the emulator started.
    pub started: Instant,
}

impl<S> SharedState<S> {
    /// Starts with this state.
    pub fn new(state: S) -> SharedState<S> {
        SharedState { state: Mutex::new(state), started: Instant::now() }
    }

    /// Locks the state. A panic under the lock leaves it usable.
    pub fn lock(&self) -> MutexGuard<'_, S> {
        self.state.lock()
    }
}
