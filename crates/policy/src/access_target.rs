use crate::ItemKind;

/// The kind of access that a caller requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessKind {
    /// The item appears in lists.
    See,
    /// The caller runs a tool, reads a resource or gets a prompt.
    Use,
}

/// The item that a caller requests.
#[derive(Debug, Clone, Copy)]
pub struct AccessTarget<'a> {
    pub server: &'a str,
    pub sort: ItemKind,
    /// The server's own name for the item, without the gateway's prefix.
    pub name: &'a str,
}
