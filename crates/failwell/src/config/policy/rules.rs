//! `[tools.<server>]`, `[prompts.<server>]`, `[resources.<server>]` and `[[rule]]`.

use failwell_policy::{AccessRule, AccessRules, ArgumentCheck, CallerMatcher, ItemKind, ItemRules, Pattern};
use failwell_toolbox::Schema;

use crate::config::parse::names::{list, nearest};
use crate::config::parse::reader::{Reader, Section, SourceValue};

const SORTS: [(&str, ItemKind); 3] =
    [("tools", ItemKind::Tools), ("prompts", ItemKind::Prompts), ("resources", ItemKind::Resources)];

/// Reads all rules: those of servers first, then those of callers.
pub(in crate::config) fn read(
    reader: &mut Reader<'_>,
    root: &Section<'_>,
    servers: &[String],
    with_shelf: &[String],
) -> AccessRules {
    let mut rules = Vec::new();
    for (name, sort) in SORTS {
        for (server, section) in reader.named(root, name) {
            let known = if sort == ItemKind::Resources { with_shelf } else { servers };
            let servers = vec![this_server(reader, &server, known)];
            rules.push(AccessRule {
                callers: CallerMatcher::default(),
                servers,
                sort,
                items: items(reader, &section),
            });
        }
    }
    for section in reader.tables(root, "rule") {
        rules.extend(rule(reader, &section, with_shelf));
    }
    if rules.len() > AccessRules::MOST {
        let message = format!("there are more than {} rules", AccessRules::MOST);
        reader.wrong(&root.key_span("rule"), "rule", message, "use `*` in names to combine some of them");
    }
    AccessRules::new(rules)
}

fn rule(reader: &mut Reader<'_>, section: &Section<'_>, servers: &[String]) -> Vec<AccessRule> {
    let callers = callers(reader, section);
    let named = reader.texts(section, "servers").unwrap_or_default();
    let about: Vec<Pattern> = named.iter().map(|name| this_server(reader, name, servers)).collect();
    let mut found = Vec::new();
    for (name, sort) in SORTS {
        if let Some(inner) = reader.table(section, name) {
            let (callers, servers) = (callers.clone(), about.clone());
            found.push(AccessRule { callers, servers, sort, items: items(reader, &inner) });
        }
    }
    if found.is_empty() && !SORTS.iter().any(|(name, _)| section.has(name)) {
        let help = "name tools, prompts or limits, such as tools = { hide = [\"delete_*\"] }";
        reader.missing(section, "tools", "the rule has no effect", help);
    }
    found
}

fn callers(reader: &mut Reader<'_>, section: &Section<'_>) -> CallerMatcher {
    let named = reader.texts(section, "callers").unwrap_or_default();
    named.iter().for_each(|found| check_caller(reader, found));
    CallerMatcher::new(named.iter().map(|found| found.value.as_str()))
}

/// Refuses a pattern that can match no caller.
pub(super) fn check_caller(reader: &mut Reader<'_>, found: &SourceValue<String>) {
    let text = found.value.trim_start_matches('!');
    let is_known = text == "anonymous"
        || text == "*"
        || ["key:", "jwt:", "role:"].iter().any(|kind| text.len() > kind.len() && text.starts_with(kind));
    if !is_known {
        let help = "write `key:NAME`, `jwt:SUBJECT`, `role:NAME` or `anonymous`";
        reader.wrong(&found.span, &found.key, "this is not a caller", help);
    }
}

/// A server of the file, or a pattern that matches at least one.
pub(super) fn this_server(
    reader: &mut Reader<'_>,
    named: &SourceValue<String>,
    servers: &[String],
) -> Pattern {
    let pattern = Pattern::new(&named.value);
    if !servers.iter().any(|server| pattern.matches(server)) && named.value != "*" {
        let names = || servers.iter().map(String::as_str);
        let help = nearest(&named.value, names()).map_or_else(
            || format!("the servers of this file are {}; `*` stands for all", list(names())),
            |near| format!("did you mean `{near}`?"),
        );
        reader.wrong(&named.span, &named.key, format!("there is no server `{}`", named.value), help);
    }
    pattern
}

fn items(reader: &mut Reader<'_>, section: &Section<'_>) -> ItemRules {
    ItemRules {
        allow: section.has("allow").then(|| patterns(reader, section, "allow")),
        hide: patterns(reader, section, "hide"),
        approve: patterns(reader, section, "approve"),
        rename: rename(reader, section),
        describe: describe(reader, section),
        arguments: arguments(reader, section),
    }
}

fn patterns(reader: &mut Reader<'_>, section: &Section<'_>, name: &str) -> Vec<Pattern> {
    let found = reader.texts(section, name).unwrap_or_default();
    found.iter().map(|text| Pattern::new(&text.value)).collect()
}

fn describe(reader: &mut Reader<'_>, section: &Section<'_>) -> Vec<(Pattern, String)> {
    let pairs = reader.pairs(section, "describe");
    pairs.into_iter().map(|pair| (Pattern::new(&pair.name.value), pair.value.value)).collect()
}

fn rename(reader: &mut Reader<'_>, section: &Section<'_>) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for pair in reader.pairs(section, "rename") {
        let new = &pair.value.value;
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if new.is_empty() || new.len() > 64 || !new.chars().all(fits) {
            let help = "use 1 to 64 letters, digits, _, - and .";
            reader.wrong(&pair.value.span, &pair.value.key, "clients do not accept this name", help);
        } else if found.iter().any(|(_, other)| other == new) {
            let message = format!("two items would have the name `{new}`");
            reader.wrong(&pair.value.span, &pair.value.key, message, "give one of them another name");
        }
        found.push((pair.name.value, pair.value.value));
    }
    found
}

fn arguments(reader: &mut Reader<'_>, section: &Section<'_>) -> Vec<(Pattern, ArgumentCheck)> {
    let mut found = Vec::new();
    for (tool, schema) in reader.schemas(section, "arguments") {
        match Schema::new(schema) {
            Ok(schema) => {
                let check = ArgumentCheck::new(move |text| schema.violations_in(text));
                found.push((Pattern::new(&tool.value), check));
            }
            Err(_) => {
                let help =
                    "write a JSON Schema, such as { properties = { path = { pattern = \"^/data/\" } } }";
                reader.wrong(&tool.span, &tool.key, "this is not a JSON Schema", help);
            }
        }
    }
    found
}
