//! A stack deep enough for an analysis.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls of the analysed code nest on it, and code may be nested as deeply as validation allows. Only the
/// used part takes memory.
const STACK: usize = 512 << 20;

thread_local! {
    /// Whether this thread has a deep stack.
    static IS_DEEP: Cell<bool> = const { Cell::new(false) };
}

/// Runs the closure on a deep stack: here, or on a new thread. `None` if it panicked.
pub(crate) fn with_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    if IS_DEEP.get() {
        return catch_unwind(AssertUnwindSafe(work)).ok();
    }
    let on_its_own = || {
        IS_DEEP.set(true);
        work()
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("analysis".to_owned()).stack_size(STACK);
        thread.spawn_scoped(scope, on_its_own).ok().and_then(|handle| handle.join().ok())
    })
}
