//! The lobby, where failures are tried out.

reasons! {
    LOBBY_UNKNOWN_REASON = "lobby/UNKNOWN_REASON" {
        NotFound, ToolFailed, Caller,
        title: "no such reason in the catalogue",
        detail: "no such reason in the catalogue: {wanted}",
        hint: "read the resource failwell://reasons for all of them",
        about: "The lobby was asked about a way of failing that the catalogue does not have.",
    }
}
