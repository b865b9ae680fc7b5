//! The keys of identity and limits: who calls, and how much they may ask for.

use super::{Key, Number, Takes, key};

/// What the name of a key looks like.
pub(in super::super) const KEY_NAME_PATTERN: &str = "^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$";

pub(in super::super) static KEY: &[Key] = &[
    key(
        "name",
        "Its name, unique in the file; its holder is the caller `key:NAME`.",
        Takes::Text { example: "ci", pattern: Some(KEY_NAME_PATTERN) },
    ),
    key(
        "hash",
        "What is kept of the key: `failwell key new` prints one.",
        Takes::Text {
            example: "sha256:2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b",
            pattern: Some("^sha256:[0-9a-fA-F]{64}$"),
        },
    ),
    key("key", "The key itself, in place of its hash.", Takes::Secret),
    key("roles", "The roles its holder is in.", Takes::Texts { least: 0 }),
];

pub(in super::super) static LIMITS: &[Key] = &[
    RATE,
    BURST.key(),
    CONCURRENCY.key(),
    key(
        "errors",
        "How often a caller may ask for what is not there or not allowed before it is slowed down.",
        Takes::Table(ERRORS),
    ),
    key(
        "callers",
        "For some callers: `key:NAME`, `jwt:SUBJECT`, `anonymous` or `role:NAME`, with `*` for any run of characters.",
        Takes::Named(ALLOWANCE),
    ),
    key(
        "tools",
        "For some tools, as `server__tool` with the server's own name of it and `*` for any run of characters; for each caller apart.",
        Takes::Named(ALLOWANCE),
    ),
];

static ERRORS: &[Key] = &[RATE, BURST.key()];
static ALLOWANCE: &[Key] = &[RATE, BURST.key(), CONCURRENCY.key()];

const RATE: Key = key(
    "rate",
    "How many, on average: `5/s`, `30/min`, `100/h`.",
    Takes::Text { example: "5/s", pattern: Some("^[1-9][0-9]{0,5}/(s|min|h)$") },
);

pub(in super::super) static BURST: Number = Number {
    name: "burst",
    about: "How many at once, after a rest; by default as many as `rate` has in its time.",
    from: 1,
    to: 1_000_000,
    default: 0,
};

pub(in super::super) static CONCURRENCY: Number = Number {
    name: "concurrency",
    about: "How many at the same time; without it as many as there is room for.",
    from: 1,
    to: 100_000,
    default: 0,
};
