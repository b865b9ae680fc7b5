/// An error for the user at the terminal.
#[derive(Debug)]
pub(crate) struct Complaint {
    /// The error: lowercase, no full stop.
    pub(crate) title: String,
    /// The next step for the user.
    pub(crate) help: String,
}

impl Complaint {
    pub(crate) fn new(title: impl Into<String>, help: impl Into<String>) -> Complaint {
        Complaint { title: title.into(), help: help.into() }
    }
}
