//! The keys of approvals and pins.

use super::{ConfigKey, Number, ValueType, key};

pub(in super::super) static APPROVAL: &[ConfigKey] = &[
    WAIT.key(),
    EXPIRES.key(),
    key(
        "approvers",
        "Who may decide over HTTP if callers are authenticated: `key:NAME`, `jwt:SUBJECT` or `role:NAME`; by default `role:admin`.",
        ValueType::Texts { least: 1 },
    ),
];

/// Actions for a changed definition; below, those for a new one.
pub(in super::super) const PIN_ACTIONS: &[&str] = &["hold", "warn", "off"];
const NEW_TOOLS: &[&str] = &["allow", "hold"];

pub(in super::super) static PIN: &[ConfigKey] = &[
    key(
        "action",
        "Action for an upstream's tool or prompt whose definition changed; hold, the default, quarantines it.",
        ValueType::Choice(PIN_ACTIONS),
    ),
    key(
        "new_tools",
        "Action for a new tool or prompt of a known server; by default allow.",
        ValueType::Choice(NEW_TOOLS),
    ),
    key("servers", "Actions for single servers, by name.", ValueType::Pairs),
];

pub(in super::super) static WAIT: Number = Number {
    name: "wait_s",
    about: "How long a call waits for the decision, in seconds; 0 answers at once.",
    from: 0,
    to: 3_600,
    default: 0,
};

pub(in super::super) static EXPIRES: Number = Number {
    name: "expires_s",
    about: "Lifetime of a request for approval, and of an approval, in seconds.",
    from: 10,
    to: 604_800,
    default: 3_600,
};
