/// A problem, and how to fix it.
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
