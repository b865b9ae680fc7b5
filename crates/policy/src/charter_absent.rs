//! A build without Cedar: there is no charter, and a file that names one is told so.

use std::convert::Infallible;

use crate::Caller;
use crate::thing::{Act, Thing};

/// No such thing.
#[derive(Debug)]
pub struct Charter(Infallible);

/// What is wrong with the text of a charter.
#[derive(Debug)]
pub struct Unreadable {
    /// Where, in bytes from its beginning, if that is known.
    pub at: Option<usize>,
    /// What, in words.
    pub what: String,
}

impl Charter {
    /// Never.
    pub fn read(_: &str) -> Result<Charter, Unreadable> {
        Err(Unreadable { at: None, what: "this program was built without Cedar".to_owned() })
    }

    /// Nobody can ask.
    pub fn permits(&self, _: &Caller, _: Act, _: Thing<'_>, _: Option<&str>) -> bool {
        match self.0 {}
    }
}
