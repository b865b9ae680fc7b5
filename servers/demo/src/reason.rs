//! The reasons of the demo server's own tools.

failwell_fault::reasons! {
    LOBBY_UNKNOWN_REASON = "lobby/UNKNOWN_REASON" {
        NotFound, ToolFailed, Caller,
        title: "no such reason in the catalogue",
        detail: "no such reason in the catalogue: {wanted}",
        hint: "read the resource failwell://reasons for all reasons",
        about: "The tool was called with a reason that is not in the catalogue.",
    }
}
