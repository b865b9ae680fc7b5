//! The keys of identity and limits.

use super::{ConfigKey, Number, ValueType, key};

/// The pattern of a key's name.
pub(in super::super) const KEY_NAME_PATTERN: &str = "^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$";

pub(in super::super) static KEY: &[ConfigKey] = &[
    key(
        "name",
        "Its name, unique in the file; its caller is `key:NAME`.",
        ValueType::Text { example: "ci", pattern: Some(KEY_NAME_PATTERN) },
    ),
    key(
        "hash",
        "The hash of the key, as printed by `failwell key new`.",
        ValueType::Text {
            example: "sha256:2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b",
            pattern: Some("^sha256:[0-9a-fA-F]{64}$"),
        },
    ),
    key("key", "The key itself, instead of its hash.", ValueType::Secret),
    key("roles", "The roles of its caller.", ValueType::Texts { least: 0 }),
];

pub(in super::super) static LIMITS: &[ConfigKey] = &[
    RATE,
    BURST.key(),
    CONCURRENCY.key(),
    CONNECTIONS.key(),
    CONNECTIONS_PER_ADDRESS.key(),
    SESSIONS_PER_CALLER.key(),
    BODY_MB.key(),
    BODY_MB_PER_CALLER.key(),
    key(
        "errors",
        "Limit on answers that something does not exist or is not allowed.",
        ValueType::Table(ERRORS),
    ),
    key(
        "callers",
        "Limits for some callers: `key:NAME`, `jwt:SUBJECT`, `anonymous` or `role:NAME`, with `*` as a wildcard.",
        ValueType::Named(ALLOWANCE),
    ),
    key(
        "tools",
        "Limits for some tools, per caller: `server__tool` with the server's own names and `*` as a wildcard.",
        ValueType::Named(ALLOWANCE),
    ),
];

static ERRORS: &[ConfigKey] = &[RATE, BURST.key()];
static ALLOWANCE: &[ConfigKey] = &[RATE, BURST.key(), CONCURRENCY.key()];

const RATE: ConfigKey = key(
    "rate",
    "Average rate: `5/s`, `30/min`, `100/h`.",
    ValueType::Text { example: "5/s", pattern: Some("^[1-9][0-9]{0,5}/(s|min|h)$") },
);

pub(in super::super) static BURST: Number = Number {
    name: "burst",
    about: "Requests at once after a pause; by default the number in `rate`.",
    from: 1,
    to: 1_000_000,
    default: 0,
};

pub(in super::super) static CONCURRENCY: Number = Number {
    name: "concurrency",
    about: "Requests at the same time; by default no limit.",
    from: 1,
    to: 100_000,
    default: 0,
};

pub(in super::super) static CONNECTIONS: Number = Number {
    name: "connections",
    about: "HTTP connections at the same time.",
    from: 16,
    to: 1_000_000,
    default: 4_096,
};

pub(in super::super) static CONNECTIONS_PER_ADDRESS: Number = Number {
    name: "connections_per_address",
    about: "HTTP connections from one address at the same time.",
    from: 1,
    to: 1_000_000,
    default: 2_048,
};

pub(in super::super) static SESSIONS_PER_CALLER: Number = Number {
    name: "sessions_per_caller",
    about: "MCP sessions over HTTP of a named caller.",
    from: 1,
    to: 10_000,
    default: 1_000,
};

pub(in super::super) static BODY_MB: Number = Number {
    name: "body_mb",
    about: "Memory for request bodies that are being received or processed, in MiB.",
    from: 16,
    to: 65_536,
    default: 256,
};

pub(in super::super) static BODY_MB_PER_CALLER: Number = Number {
    name: "body_mb_per_caller",
    about: "The part of `body_mb` that a named caller may use, in MiB.",
    from: 16,
    to: 65_536,
    default: 64,
};
