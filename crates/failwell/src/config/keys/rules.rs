//! The keys of rules: what callers see of the servers.

use super::{Key, Takes, key};

pub(in super::super) static TOOLS: &[Key] = &[ALLOW, HIDE, APPROVE, RENAME, DESCRIBE, ARGUMENTS];
pub(in super::super) static PROMPTS: &[Key] = &[ALLOW, HIDE, RENAME, DESCRIBE];
/// A resource is its address, so it cannot be renamed.
pub(in super::super) static RESOURCES: &[Key] = &[ALLOW, HIDE, DESCRIBE];

pub(in super::super) static RULE: &[Key] = &[
    key(
        "callers",
        "Whom it is about: `key:NAME`, `jwt:SUBJECT`, `anonymous` or `role:NAME`, `!` in front of whom it is not about, `*` for any run of characters; by default everybody.",
        Takes::Texts { least: 1 },
    ),
    key("servers", "Which servers it is about; by default all.", Takes::Texts { least: 1 }),
    key("tools", "What of their tools.", Takes::Table(TOOLS)),
    key("prompts", "What of their prompts.", Takes::Table(PROMPTS)),
    key("resources", "What of their resources.", Takes::Table(RESOURCES)),
];

const ALLOW: Key =
    key("allow", "Only these are there; `*` for any run of characters.", Takes::Texts { least: 0 });
const HIDE: Key = key("hide", "These are not there.", Takes::Texts { least: 0 });
const APPROVE: Key =
    key("approve", "These run only after a person said yes to the very call.", Takes::Texts { least: 0 });
const RENAME: Key = key("rename", "The server's name, and the name callers use.", Takes::Pairs);
const DESCRIBE: Key = key("describe", "Descriptions in place of the server's own.", Takes::Pairs);
const ARGUMENTS: Key = key(
    "arguments",
    "A JSON Schema per tool that its arguments must satisfy beyond the tool's own.",
    Takes::Schemas,
);
