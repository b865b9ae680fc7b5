/// A failure on its way to the person at the terminal.
#[derive(Debug)]
pub(crate) struct Complaint {
    /// What is wrong: lowercase, no full stop.
    pub(crate) title: String,
    /// What to do about it.
    pub(crate) help: String,
}

impl Complaint {
    pub(crate) fn new(title: impl Into<String>, help: impl Into<String>) -> Complaint {
        Complaint { title: title.into(), help: help.into() }
    }
}
