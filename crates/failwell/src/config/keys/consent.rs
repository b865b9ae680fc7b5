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
