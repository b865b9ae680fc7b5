//! The keys of the tasks server.

use super::{Key, Number, Takes, key};

pub(in super::super) static TASKS: &[Key] = &[
    key("api_key", "The API key for Remember The Milk; RTM_API_KEY unless given.", Takes::Secret),
    key("shared_secret", "What proves the key; RTM_SHARED_SECRET unless given.", Takes::Secret),
    key(
        "base_url",
        "Where the service is, when something stands in for it.",
        Takes::Address { example: "http://127.0.0.1:8585" },
    ),
    key("permission", "How much a login asks for; delete unless given.", Takes::Choice(PERMISSIONS)),
    key(
        "token_store",
        "Where the login is kept: auto takes the keyring where there is one, else a file.",
        Takes::Choice(&failwell_tasks::TokenStore::NAMES),
    ),
    TASKS_TIMEOUT.key(),
];

/// Each includes the one before.
const PERMISSIONS: &[&str] = &["read", "write", "delete"];

pub(in super::super) static TASKS_TIMEOUT: Number = Number {
    name: "timeout_s",
    about: "How long one answer of the service may take, in seconds.",
    from: 1,
    to: 300,
    default: 20,
};
