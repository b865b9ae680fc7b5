/// Something changed on the shelf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A resource is there that was not.
    Added(String),
    /// What belongs to a resource is another; its bytes never change.
    Updated(String),
    /// A resource is gone.
    Removed(String),
    /// Another program that uses the same folder changed something.
    Elsewhere,
}
