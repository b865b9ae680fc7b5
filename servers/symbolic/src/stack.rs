//! A stack that is deep enough for an analysis.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls of the analysed code nest on it, and code may be nested as deeply as validation lets it. Only what is used of
/// it takes memory.
const STACK: usize = 512 << 20;

thread_local! {
    /// Whether this thread has such a stack.
    static IS_DEEP: Cell<bool> = const { Cell::new(false) };
}

/// Does this where the stack is deep enough: here, or on a thread of its own. `None` when it panicked.
pub(crate) fn deep<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
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
