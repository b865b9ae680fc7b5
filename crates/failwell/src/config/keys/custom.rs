//! `[[guard.custom]]`.

use super::{CWD, ConfigKey, ENV, ENV_PASS, Number, RESTART, ValueType, key, text};

pub(in crate::config) static CUSTOM: &[ConfigKey] = &[
    key(
        "name",
        "Its name, unique in the file. Callers see it when the guard denies.",
        ValueType::Text { example: "invoices", pattern: Some(super::NAME_PATTERN) },
    ),
    text("wasm", "A WebAssembly module, or its text (.wat).", "guards/invoices.wasm"),
    key("command", "A program that reads questions and writes verdicts.", ValueType::Texts { least: 1 }),
    key(
        "directions",
        "Messages to inspect: requests, results, errors, notices; by default all.",
        ValueType::Texts { least: 1 },
    ),
    key("servers", "Servers to inspect; by default all.", ValueType::Texts { least: 1 }),
    key(
        "tools",
        "Tools to inspect, by their servers' own names; by default all.",
        ValueType::Texts { least: 1 },
    ),
    TIMEOUT_MS.key(),
    key("critical", "Whether messages need its verdict to pass.", ValueType::Flag { default: true }),
    PRIORITY.key(),
    MEMORY_MB.key(),
    FUEL.key(),
    INSTANCES.key(),
    CWD,
    ENV,
    ENV_PASS,
    key("restart", "Limit on restarts of the program.", ValueType::Table(RESTART)),
];

pub(in crate::config) static TIMEOUT_MS: Number = Number {
    name: "timeout_ms",
    about: "Time limit of one verdict, in milliseconds.",
    from: 1,
    to: 60_000,
    default: 1_000,
};

pub(in crate::config) static PRIORITY: Number = Number {
    name: "priority",
    about: "The guard with the smaller number runs first.",
    from: 0,
    to: 1_000,
    default: 50,
};

pub(in crate::config) static MEMORY_MB: Number = Number {
    name: "memory_mb",
    about: "Memory limit in megabytes; by default 64 for a module, none for a program.",
    from: 1,
    to: 4_096,
    default: 64,
};

pub(in crate::config) static FUEL: Number = Number {
    name: "fuel",
    about: "Most steps of a module for one verdict.",
    from: 1_000,
    to: 1_000_000_000_000,
    default: 1_000_000_000,
};

pub(in crate::config) static INSTANCES: Number = Number {
    name: "instances",
    about: "Instances of a module at the same time.",
    from: 1,
    to: 64,
    default: 4,
};
