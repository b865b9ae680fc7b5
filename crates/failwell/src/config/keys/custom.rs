//! `[[guard.custom]]`.

use super::{Key, Number, RESTART, Takes, key, text};

pub(in crate::config) static CUSTOM: &[Key] = &[
    key(
        "name",
        "Its name, unique in the file. Callers see it when the guard says no.",
        Takes::Text { example: "invoices", pattern: Some(super::NAME_PATTERN) },
    ),
    text("wasm", "A WebAssembly module, or its text (.wat).", "guards/invoices.wasm"),
    key("command", "A program that reads questions and writes verdicts.", Takes::Texts { least: 1 }),
    key(
        "directions",
        "What it looks at: requests, results, errors, notices; by default everything.",
        Takes::Texts { least: 1 },
    ),
    key("servers", "The servers it looks at; by default all.", Takes::Texts { least: 1 }),
    key(
        "tools",
        "The tools it looks at, with their servers' own names; by default everything.",
        Takes::Texts { least: 1 },
    ),
    TIMEOUT_MS.key(),
    key("critical", "Whether nothing passes without its verdict.", Takes::Flag { default: true }),
    PRIORITY.key(),
    MEMORY_MB.key(),
    FUEL.key(),
    INSTANCES.key(),
    text("cwd", "The folder the program starts in.", "."),
    key("env", "Variables for the program.", Takes::Secrets),
    key(
        "env_pass",
        "Variables the program inherits, PATH and HOME unless given; nothing else is inherited.",
        Takes::Texts { least: 0 },
    ),
    key("restart", "How often the program may be started again.", Takes::Table(RESTART)),
];

pub(in crate::config) static TIMEOUT_MS: Number = Number {
    name: "timeout_ms",
    about: "How long one verdict may take, in milliseconds.",
    from: 1,
    to: 60_000,
    default: 1_000,
};

pub(in crate::config) static PRIORITY: Number = Number {
    name: "priority",
    about: "Who is asked first: the smaller number.",
    from: 0,
    to: 1_000,
    default: 50,
};

pub(in crate::config) static MEMORY_MB: Number = Number {
    name: "memory_mb",
    about: "How much memory it may have, in megabytes: 64 for a module, any amount for a program unless given.",
    from: 1,
    to: 4_096,
    default: 64,
};

pub(in crate::config) static FUEL: Number = Number {
    name: "fuel",
    about: "How many steps a module may take for one verdict.",
    from: 1_000,
    to: 1_000_000_000_000,
    default: 1_000_000_000,
};

pub(in crate::config) static INSTANCES: Number = Number {
    name: "instances",
    about: "How many verdicts of a module may be worked on at the same time.",
    from: 1,
    to: 64,
    default: 4,
};
