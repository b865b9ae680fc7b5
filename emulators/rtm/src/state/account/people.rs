use jiff::Timestamp;

use super::Id;

/// A user of the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Person {
    pub(crate) id: Id,
    pub(crate) username: String,
    pub(crate) fullname: String,
}

/// A user with whom tasks can be shared.
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

/// A push endpoint. Nothing is ever sent to it.
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
