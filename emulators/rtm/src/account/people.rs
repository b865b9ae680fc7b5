use jiff::Timestamp;

use super::Id;

/// Somebody with an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Person {
    pub(crate) id: Id,
    pub(crate) username: String,
    pub(crate) fullname: String,
}

/// Somebody tasks can be shared with.
pub(crate) type Contact = Person;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) contacts: Vec<Id>,
}

/// A place, in degrees.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Location {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) longitude: f64,
    pub(crate) latitude: f64,
    pub(crate) address: String,
}

/// An endpoint somebody wants to be told at. Nothing is ever sent to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subscription {
    pub(crate) id: Id,
    pub(crate) url: String,
    pub(crate) format: String,
    pub(crate) topics: Vec<String>,
    pub(crate) filter: String,
    pub(crate) expires: Option<Timestamp>,
}

/// A program of the user's. It is kept and never run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) code: String,
    pub(crate) params: String,
}
