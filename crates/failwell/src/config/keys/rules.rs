//! The keys of access rules.

use super::{ConfigKey, ValueType, key};

pub(in super::super) static TOOLS: &[ConfigKey] = &[ALLOW, HIDE, APPROVE, RENAME, DESCRIBE, ARGUMENTS];
pub(in super::super) static PROMPTS: &[ConfigKey] = &[ALLOW, HIDE, RENAME, DESCRIBE];
/// A resource is identified by its URI, so it cannot be renamed.
pub(in super::super) static RESOURCES: &[ConfigKey] = &[ALLOW, HIDE, DESCRIBE];

pub(in super::super) static RULE: &[ConfigKey] = &[
    key(
        "callers",
        "The callers it applies to: `key:NAME`, `jwt:SUBJECT`, `anonymous` or `role:NAME`. `!` excludes, `*` is a wildcard; by default all.",
        ValueType::Texts { least: 1 },
    ),
    key("servers", "The servers it applies to; by default all.", ValueType::Texts { least: 1 }),
    key("tools", "Rules for their tools.", ValueType::Table(TOOLS)),
    key("prompts", "Rules for their prompts.", ValueType::Table(PROMPTS)),
    key("resources", "Rules for their resources.", ValueType::Table(RESOURCES)),
];

const ALLOW: ConfigKey =
    key("allow", "Only these are visible; `*` is a wildcard.", ValueType::Texts { least: 0 });
const HIDE: ConfigKey = key("hide", "These are hidden.", ValueType::Texts { least: 0 });
const APPROVE: ConfigKey =
    key("approve", "These run only after a person approved the call.", ValueType::Texts { least: 0 });
const RENAME: ConfigKey = key("rename", "The server's name = the name for callers.", ValueType::Pairs);
const DESCRIBE: ConfigKey = key("describe", "Descriptions instead of the server's own.", ValueType::Pairs);
const ARGUMENTS: ConfigKey = key(
    "arguments",
    "A JSON Schema per tool that its arguments must match in addition to the tool's own.",
    ValueType::Schemas,
);
