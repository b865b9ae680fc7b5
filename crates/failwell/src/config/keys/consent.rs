//! The keys of what needs a person's yes.

use super::{Key, Number, Takes, key};

pub(in super::super) static APPROVAL: &[Key] = &[
    WAIT.key(),
    EXPIRES.key(),
    key(
        "approvers",
        "Who may answer over HTTP, where callers have names: `key:NAME`, `jwt:SUBJECT` or `role:NAME`; by default `role:admin`.",
        Takes::Texts { least: 1 },
    ),
];

/// What is done with a tool that changed, and with one that is new.
pub(in super::super) const PIN_ACTIONS: &[&str] = &["hold", "warn", "off"];
const NEW_TOOLS: &[&str] = &["allow", "hold"];

pub(in super::super) static PIN: &[Key] = &[
    key(
        "action",
        "What is done with a tool or prompt of an upstream whose definition changed: by default hold.",
        Takes::Choice(PIN_ACTIONS),
    ),
    key(
        "new_tools",
        "What is done with one that a known server has not had before: by default allow.",
        Takes::Choice(NEW_TOOLS),
    ),
    key("servers", "Actions of single servers, by name.", Takes::Pairs),
];

pub(in super::super) static WAIT: Number = Number {
    name: "wait_s",
    about: "How long a call waits for the answer, in seconds; 0 to be told at once that one is needed.",
    from: 0,
    to: 3_600,
    default: 0,
};

pub(in super::super) static EXPIRES: Number = Number {
    name: "expires_s",
    about: "How long a question waits for its answer, and an answer for its call, in seconds.",
    from: 10,
    to: 604_800,
    default: 3_600,
};
