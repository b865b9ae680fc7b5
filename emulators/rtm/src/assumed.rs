//! Behaviour that the service's documentation leaves open, and this emulator's choices.
//!
//! Nothing here is a fact about the real service. A client must not rely on it: it must treat a code it does not know
//! as a refusal of what it sent, and any order of checks as possible. [`NOTES`] lists the rest in words; where the code
//! acts on one of them, it takes it from here.

use std::time::Duration;

use crate::api::api_error::ApiError;

/// One check a request passes before its method runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// `format` is one we write: 111.
    Format,
    /// `api_key` is ours: 100.
    Key,
    /// `method` exists: 112.
    Method,
    /// The method exists in version `v`: 120.
    Version,
    /// `api_sig` is there (97) and right (96).
    Signature,
    /// `auth_token` is one we gave out: 98.
    Token,
    /// The token's permission is enough: 99.
    Permission,
    /// `timeline` is one we gave out: 300.
    Timeline,
}

/// The order of the checks. Ids (320, 340) and meaning (3000 and above) come after all of these.
pub const ORDER: &[Check] = &[
    Check::Format,
    Check::Key,
    Check::Method,
    Check::Version,
    Check::Signature,
    Check::Token,
    Check::Permission,
    Check::Timeline,
];

pub(crate) const BAD_CONTACT_ID: ApiError = ApiError::new(330, "contact_id invalid or not provided");
pub(crate) const BAD_NOTE: ApiError = ApiError::new(350, "note_id invalid or not provided");
pub(crate) const BAD_LOCATION: ApiError = ApiError::new(360, "location_id invalid or not provided");
pub(crate) const BAD_GROUP: ApiError = ApiError::new(370, "group_id invalid or not provided");
pub(crate) const BAD_SUBSCRIPTION: ApiError = ApiError::new(380, "subscription_id invalid or not provided");
pub(crate) const BAD_SCRIPT: ApiError = ApiError::new(390, "script_id invalid or not provided");
pub(crate) const BAD_GROUP_NAME: ApiError = ApiError::new(2000, "Group name provided is invalid.");
pub(crate) const BAD_DUE: ApiError = ApiError::new(4100, "Due date provided is invalid.");
pub(crate) const BAD_START: ApiError = ApiError::new(4110, "Start date provided is invalid.");
pub(crate) const BAD_RECURRENCE: ApiError = ApiError::new(4120, "Recurrence provided is invalid.");
pub(crate) const BAD_ESTIMATE: ApiError = ApiError::new(4130, "Estimate provided is invalid.");
pub(crate) const BAD_FILTER: ApiError = ApiError::new(4140, "Filter provided is invalid.");
pub(crate) const BAD_PRIORITY: ApiError = ApiError::new(4150, "Priority provided is invalid.");
pub(crate) const BAD_TIME: ApiError = ApiError::new(5000, "Time or time zone provided is invalid.");
pub(crate) const BAD_PUSH: ApiError = ApiError::new(6000, "Subscription provided is invalid.");
pub(crate) const NO_SCRIPTS: ApiError = ApiError::new(7000, "Scripts cannot be run here.");

/// The longest a request beyond the rate is held back before it is refused with HTTP 503.
pub(crate) const LONGEST_DELAY: Duration = Duration::from_secs(2);

/// The longest task and list name, in characters.
pub(crate) const LONGEST_NAME: usize = 1_000;

/// Everything else that is assumed, in words.
pub const NOTES: &[&str] = &[
    "A request without `v` is one of version 1, but a list of one thing is a list in its answer, as in version 2; with \
     `v=1` it is that thing.",
    "A time without a zone is one of UTC, but a date alone is one of the account's time zone.",
    "tasks.getList names the list it was asked for even when nothing is in it, unless there is a filter.",
    "JSON is sent as text/javascript, XML as text/xml, both with HTTP 200, failures included.",
    "lists.add, lists.setDefaultList and everything about contacts, groups, push and scripts cannot be undone.",
    "A transaction is undone once; again, or when it cannot be undone, is 310.",
    "Undo puts back what that one transaction changed, and leaves what later ones changed elsewhere.",
    "Undo counts as a modification; a task it takes away is told as deleted.",
    "timelines.create needs read permission; a timeline belongs to the token that made it.",
    "last_sync includes changes of the very second it names; times have whole seconds.",
    "A task that moved is told as deleted in its old list.",
    "A filter with an unknown operator or a stray parenthesis is refused; an unreadable date in it \
     matches nothing, and `7 days ago` is such a date.",
    "dueWithin and startWithin look forward from their day; completedWithin, addedWithin and updatedWithin look both ways.",
    "A day that is named (friday) is the next one after today; `this friday` may be today.",
    "A time of day alone that has passed is meant for tomorrow.",
    "An estimate comes back as it was written.",
    "A due date without has_due_time is put to the start of its day in the account's time zone.",
    "Completing an `every` task makes the next one after its due date that is not before today; an `after` task is \
     counted from the day it was completed. A task without a due date is counted from today.",
    "A monthly task on a day the month lacks falls on the month's last day.",
    "Completing or deleting a task does the same to its sub-tasks; moving one takes them along.",
    "Tasks cannot be put into smart lists or Sent: 320. Inbox and Sent cannot be renamed (3000), deleted or archived (320).",
    "Two lists may have the same name.",
    "Tags are lower case. A smart add tag is one word; an unknown location stays in the name.",
    "A token goes on working when its frob is asked for again; a frob is good for one token.",
];
