//! The initial content of an account: from JSON, or built in Rust.

mod demo;
mod plant;

use serde::{Deserialize, Serialize};

pub(crate) use plant::plant;

/// An account.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Seed {
    /// The user's short name.
    pub username: String,
    /// The user's whole name.
    pub fullname: String,
    /// A name of the time zone database.
    pub timezone: String,
    /// Whether 5/9 is the fifth of September.
    pub day_first: bool,
    /// Whether the account is a paid one, which sub-tasks need.
    pub pro: bool,
    /// The name of the list new tasks go to in the service's own apps.
    pub default_list: Option<String>,
    /// Lists. `Inbox` names the one that is always there.
    pub lists: Vec<SeedList>,
    /// Places.
    pub locations: Vec<SeedLocation>,
    /// Other people with accounts.
    pub people: Vec<SeedPerson>,
}

/// A list and its tasks.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SeedList {
    pub name: String,
    /// The filter of a smart list.
    pub filter: Option<String>,
    /// Whether it is in the archive.
    pub archived: bool,
    pub tasks: Vec<SeedTask>,
}

/// A task. Dates are in words (`tomorrow 9am`) or ISO 8601, in the account's time zone.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SeedTask {
    pub name: String,
    /// When it is due.
    pub due: Option<String>,
    /// When it can be begun.
    pub start: Option<String>,
    /// When it was done.
    pub completed: Option<String>,
    /// 1 to 3.
    pub priority: Option<u8>,
    pub tags: Vec<String>,
    pub notes: Vec<SeedNote>,
    /// How it repeats: `every week`, `after 3 days`.
    pub repeat: Option<String>,
    /// How long it takes: `30 min`.
    pub estimate: Option<String>,
    /// An address.
    pub url: Option<String>,
    /// The name of a place.
    pub location: Option<String>,
    /// How often it was put off.
    pub postponed: u32,
    /// User names of contacts.
    pub shared_with: Vec<String>,
    /// Its parts.
    pub subtasks: Vec<SeedTask>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SeedNote {
    pub title: String,
    pub text: String,
}

/// A place.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SeedLocation {
    pub name: String,
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
    pub longitude: f64,
    /// Where that is.
    pub address: String,
}

/// Another user.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SeedPerson {
    /// Their short name.
    pub username: String,
    /// Their whole name.
    pub fullname: String,
    /// Whether they are among the user's contacts.
    pub contact: bool,
}

impl Default for Seed {
    fn default() -> Seed {
        Seed::empty()
    }
}

impl Seed {
    /// An account with an Inbox and nothing in it.
    pub fn empty() -> Seed {
        Seed {
            username: "dana".to_owned(),
            fullname: "Dana Demo".to_owned(),
            timezone: "Europe/Berlin".to_owned(),
            day_first: true,
            pro: true,
            default_list: None,
            lists: vec![],
            locations: vec![],
            people: vec![],
        }
    }

    /// The demo account.
    pub fn demo() -> Seed {
        demo::seed()
    }
}
