//! The reasons that every dialect must be able to render.

use failwell_fault::ReasonRegistry;

failwell_fault::reasons! {
    static STRANGERS;

    STRANGER_OVEN_COLD = "stranger/OVEN_COLD" {
        Precondition, ToolFailed, Server,
        title: "the oven is cold",
        detail: "the oven is cold: {why}",
        hint: "call preheat first, then bake again",
        about: "A row of a crate that this project has never heard of.",
    }
    STRANGER_MILL_CLOSED = "stranger/MILL_CLOSED" {
        Unavailable, ExternalService, Upstream,
        title: "the mill is closed",
        session_message: "Failed to communicate with the mill.",
        hint: "come back when the mill is open",
        about: "A row whose service the renderer has never heard of.",
    }
}

/// The reasons of the core, of every built-in server and of a foreign crate.
pub(crate) fn reasons() -> ReasonRegistry {
    failwell_catalogue::registry().and_then(|reasons| reasons.with(STRANGERS)).expect("no id twice")
}
