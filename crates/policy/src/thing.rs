use crate::Sort;

/// What a caller wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Know that it is there.
    See,
    /// Run a tool, read a resource, fill in a prompt.
    Use,
}

/// Something a caller wants.
#[derive(Debug, Clone, Copy)]
pub struct Thing<'a> {
    /// Whose.
    pub server: &'a str,
    /// What sort of thing.
    pub sort: Sort,
    /// What its server calls it.
    pub name: &'a str,
}
