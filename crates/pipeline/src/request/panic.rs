//! Captures the message of a panicking handler for the operator. It is never printed.

use std::any::Any;
use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::panic::PanicHookInfo;

use failwell_fault::{Effect, Fault, reason};

thread_local! {
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Replaces the panic hook that prints. Location and stack are stored for the fault that follows.
pub fn keep_panics_quiet() {
    std::panic::set_hook(Box::new(|info: &PanicHookInfo<'_>| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let story = format!("at {place}\n{}", Backtrace::force_capture());
        LAST.with(|last| *last.borrow_mut() = Some(story));
    }));
}

/// Returns the fault for a panic that was caught on this thread.
pub fn fault_of_panic(payload: &(dyn Any + Send)) -> Fault {
    let message = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".to_owned());
    let story = LAST.with(|last| last.borrow_mut().take()).unwrap_or_default();
    // The handler may have done a part of its work.
    Fault::new(&reason::SERVER_PANIC).with_effect(Effect::Unknown).note("panic", message).with_stack(story)
}
