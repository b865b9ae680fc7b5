//! `[guard.secrets]`, `[guard.pii]`, `[guard.injection]` and `[[guard.custom]]`.

use std::collections::BTreeMap;
use std::sync::Arc;

use failwell_policy::GuardSettings;
use failwell_policy::guard::{Action, Category, Direction, Guard, GuardRule, Sensitivity};

use super::custom::{self, CustomConfig};
use crate::config::parse::names::{list, nearest};
use crate::config::parse::reader::{Reader, Section, SourceValue};

/// Reads the settings of guards. A guard that the file does not name keeps its defaults.
pub(in crate::config) fn read(
    reader: &mut Reader<'_>,
    root: &Section<'_>,
    servers: &[String],
) -> (GuardSettings, Vec<Arc<CustomConfig>>) {
    let mut settings = GuardSettings::default();
    let Some(guards) = reader.table(root, "guard") else { return (settings, Vec::new()) };
    for guard in Guard::ALL {
        let Some(section) = reader.table(&guards, guard.as_str()) else { continue };
        let rule = rule(reader, &section, guard, servers);
        match guard {
            Guard::Secrets => settings.secrets = rule,
            Guard::Pii => settings.pii = rule,
            Guard::Injection => {
                settings.injection = rule;
                settings.sensitivity = sensitivity(reader, &section);
            }
        }
    }
    (settings, custom::read(reader, &guards, servers))
}

fn rule(reader: &mut Reader<'_>, section: &Section<'_>, guard: Guard, servers: &[String]) -> GuardRule {
    if !section.has("action") {
        let help = format!("add action = \"…\": {}", list(Action::ALL.map(Action::as_str)));
        reader.missing(section, "action", "the guard has no action", &help);
    }
    let action = reader
        .text(section, "action")
        .and_then(|found| one_of(reader, &found, Action::parse, &Action::ALL.map(Action::as_str)));
    let mut rule = GuardRule::everywhere(action.unwrap_or(Action::Block));
    rule.categories = categories(reader, section, guard);
    rule.servers = actions(reader, section, servers);
    if let Some(found) = reader.texts(section, "directions") {
        let all = Direction::ALL.map(Direction::as_str);
        rule.directions =
            found.iter().filter_map(|item| one_of(reader, item, Direction::parse, &all)).collect();
    }
    rule
}

fn categories(reader: &mut Reader<'_>, section: &Section<'_>, guard: Guard) -> Option<Vec<Category>> {
    let found = reader.texts(section, "categories")?;
    let of_guard: Vec<&str> =
        Category::all().filter(|category| category.guard() == guard).map(Category::as_str).collect();
    let named = |name: &str| Category::parse(guard, name);
    Some(found.iter().filter_map(|item| one_of(reader, item, named, &of_guard)).collect())
}

/// The actions for single servers. Each server must exist.
fn actions(reader: &mut Reader<'_>, section: &Section<'_>, servers: &[String]) -> BTreeMap<String, Action> {
    let mut actions = BTreeMap::new();
    for pair in reader.pairs(section, "servers") {
        let (name, all) = (pair.name.value.clone(), Action::ALL.map(Action::as_str));
        if !servers.contains(&name) {
            let message = format!("there is no server `{name}`");
            let known = || servers.iter().map(String::as_str);
            let help = match nearest(&name, known()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the servers are {}", list(known())),
            };
            reader.wrong(&pair.name.span, &pair.name.key, message, help);
        }
        if let Some(action) = one_of(reader, &pair.value, Action::parse, &all) {
            actions.insert(name, action);
        }
    }
    actions
}

fn sensitivity(reader: &mut Reader<'_>, section: &Section<'_>) -> Sensitivity {
    let found = reader.text(section, "sensitivity");
    let all = Sensitivity::ALL.map(Sensitivity::as_str);
    found.and_then(|found| one_of(reader, &found, Sensitivity::parse, &all)).unwrap_or_default()
}

/// Parses a value that must be one of `all`.
pub(in crate::config) fn one_of<T>(
    reader: &mut Reader<'_>,
    found: &SourceValue<String>,
    named: impl Fn(&str) -> Option<T>,
    all: &[&'static str],
) -> Option<T> {
    let value = named(&found.value);
    if value.is_none() {
        let help = match nearest(&found.value, all.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("write one of {}", list(all.iter().copied())),
        };
        reader.wrong(&found.span, &found.key, format!("unknown value `{}`", found.value), help);
    }
    value
}
