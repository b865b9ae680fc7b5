/// Something to put right, and how.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) what: String,
    pub(crate) help: &'static str,
}

impl Problem {
    pub(crate) fn new(what: impl Into<String>, help: &'static str) -> Problem {
        Problem { what: what.into(), help }
    }
}
