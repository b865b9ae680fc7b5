use super::Id;

/// A list, plain or smart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct List {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) is_deleted: bool,
    pub(crate) is_locked: bool,
    pub(crate) is_archived: bool,
    pub(crate) position: i32,
    /// The filter of a smart list.
    pub(crate) filter: Option<String>,
}

impl List {
    pub(crate) fn named(id: Id, name: &str) -> List {
        List {
            id,
            name: name.to_owned(),
            is_deleted: false,
            is_locked: false,
            is_archived: false,
            position: 0,
            filter: None,
        }
    }

    /// Whether tasks can be put into it.
    pub(crate) fn holds_tasks(&self) -> bool {
        !self.is_deleted && self.filter.is_none() && !(self.is_locked && self.name == "Sent")
    }
}
