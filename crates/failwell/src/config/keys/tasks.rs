//! The keys of the tasks server.

use super::{ConfigKey, Number, ValueType, key};

pub(in super::super) static TASKS: &[ConfigKey] = &[
    key("api_key", "The API key for Remember The Milk; by default RTM_API_KEY.", ValueType::Secret),
    key("shared_secret", "The secret of the key; by default RTM_SHARED_SECRET.", ValueType::Secret),
    key(
        "base_url",
        "Address of an emulated service.",
        ValueType::Address { example: "http://127.0.0.1:8585" },
    ),
    key("permission", "Permission that a login asks for; by default delete.", ValueType::Choice(PERMISSIONS)),
    key(
        "token_store",
        "Where the token is stored: auto uses the keyring if there is one, else a file.",
        ValueType::Choice(&failwell_tasks::TokenStore::NAMES),
    ),
    TASKS_TIMEOUT.key(),
];

/// Each permission includes the ones before it.
const PERMISSIONS: &[&str] = &["read", "write", "delete"];

pub(in super::super) static TASKS_TIMEOUT: Number = Number {
    name: "timeout_s",
    about: "Time limit of one answer of the service, in seconds.",
    from: 1,
    to: 300,
    default: 20,
};
