//! `[tools.<server>]`, `[prompts.<server>]`, `[resources.<server>]` and `[[rule]]`.

use failwell_policy::{ArgumentCheck, Items, Pattern, Rule, Rules, Sort, Whom};
use failwell_server::argument_check;

use super::names::{list, nearest};
use super::reader::{Found, Reader, Section};

const SORTS: [(&str, Sort); 3] =
    [("tools", Sort::Tools), ("prompts", Sort::Prompts), ("resources", Sort::Resources)];

/// Every rule of the file: those of a server first, then those about callers.
pub(super) fn read(
    reader: &mut Reader<'_>,
    root: &Section<'_>,
    servers: &[String],
    with_shelf: &[String],
) -> Rules {
    let mut rules = Vec::new();
    for (name, sort) in SORTS {
        for (server, section) in reader.named(root, name) {
            let known = if sort == Sort::Resources { with_shelf } else { servers };
            let servers = vec![this_server(reader, &server, known)];
            rules.push(Rule { callers: Whom::default(), servers, sort, items: items(reader, &section) });
        }
    }
    for section in reader.tables(root, "rule") {
        rules.extend(rule(reader, &section, with_shelf));
    }
    if rules.len() > Rules::MOST {
        let message = format!("there are more than {} rules", Rules::MOST);
        reader.wrong(&root.key_span("rule"), "rule", message, "use `*` in names to say more with fewer");
    }
    Rules::new(rules)
}

fn rule(reader: &mut Reader<'_>, section: &Section<'_>, servers: &[String]) -> Vec<Rule> {
    let callers = callers(reader, section);
    let named = reader.texts(section, "servers").unwrap_or_default();
    let about: Vec<Pattern> = named.iter().map(|name| this_server(reader, name, servers)).collect();
    let mut found = Vec::new();
    for (name, sort) in SORTS {
        if let Some(inner) = reader.table(section, name) {
            let (callers, servers) = (callers.clone(), about.clone());
            found.push(Rule { callers, servers, sort, items: items(reader, &inner) });
        }
    }
    if found.is_empty() && !SORTS.iter().any(|(name, _)| section.has(name)) {
        let help = "say what it is about, such as tools = { hide = [\"delete_*\"] }";
        reader.missing(section, "tools", "a rule that says nothing", help);
    }
    found
}

fn callers(reader: &mut Reader<'_>, section: &Section<'_>) -> Whom {
    let named = reader.texts(section, "callers").unwrap_or_default();
    named.iter().for_each(|found| check_caller(reader, found));
    Whom::new(named.iter().map(|found| found.value.as_str()))
}

/// Refuses what can be nobody.
pub(super) fn check_caller(reader: &mut Reader<'_>, found: &Found<String>) {
    let text = found.value.trim_start_matches('!');
    let is_known = text == "anonymous"
        || text == "*"
        || ["key:", "jwt:", "role:"].iter().any(|kind| text.len() > kind.len() && text.starts_with(kind));
    if !is_known {
        let help = "write `key:NAME`, `jwt:SUBJECT`, `role:NAME` or `anonymous`";
        reader.wrong(&found.span, &found.key, "this names no caller", help);
    }
}

/// A server of the file, or many of them.
pub(super) fn this_server(reader: &mut Reader<'_>, named: &Found<String>, servers: &[String]) -> Pattern {
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

fn items(reader: &mut Reader<'_>, section: &Section<'_>) -> Items {
    Items {
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
            reader.wrong(&pair.value.span, &pair.value.key, "clients do not take this name", help);
        } else if found.iter().any(|(_, other)| other == new) {
            let message = format!("`{new}` would be the name of two");
            reader.wrong(&pair.value.span, &pair.value.key, message, "give one of them another name");
        }
        found.push((pair.name.value, pair.value.value));
    }
    found
}

fn arguments(reader: &mut Reader<'_>, section: &Section<'_>) -> Vec<(Pattern, ArgumentCheck)> {
    let mut found = Vec::new();
    for (tool, schema) in reader.schemas(section, "arguments") {
        match argument_check(schema) {
            Ok(check) => found.push((Pattern::new(&tool.value), check)),
            Err(_) => {
                let help =
                    "write a JSON Schema, such as { properties = { path = { pattern = \"^/data/\" } } }";
                reader.wrong(&tool.span, &tool.key, "this is no JSON Schema", help);
            }
        }
    }
    found
}
