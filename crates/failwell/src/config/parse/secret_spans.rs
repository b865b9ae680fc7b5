//! Parts of the file that no message may show, not even in the line around a mistake. Only values under keys
//! known to be harmless are shown, because a misspelt `headers` still contains a password. Comments are
//! shown.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::interpolate;
use super::names::nearest;
use crate::config::keys::{ConfigKey, ROOT, ValueType};

/// The hidden ranges of a file without syntax errors.
pub(in crate::config) fn of_table(table: &DeTable<'_>, text: &str) -> Vec<Range<usize>> {
    let mut hidden = Vec::new();
    walk(table, Some(ROOT), text, &mut hidden);
    hidden
}

fn walk(table: &DeTable<'_>, keys: Option<&[ConfigKey]>, text: &str, hidden: &mut Vec<Range<usize>>) {
    for (name, value) in table {
        let known = keys.and_then(|keys| keys.iter().find(|key| key.name == name.get_ref().as_ref()));
        hide(value, known.map(|key| &key.takes), text, hidden);
    }
}

fn hide(value: &Spanned<DeValue<'_>>, takes: Option<&ValueType>, text: &str, hidden: &mut Vec<Range<usize>>) {
    match (value.get_ref(), takes) {
        (
            DeValue::Table(table),
            Some(ValueType::Table(keys) | ValueType::Tables(keys) | ValueType::AddressOr { keys, .. }),
        ) => {
            walk(table, Some(keys), text, hidden);
        }
        (DeValue::Table(table), Some(ValueType::Named(keys))) => {
            table.values().for_each(|value| hide(value, Some(&ValueType::Table(keys)), text, hidden));
        }
        (DeValue::Table(table), Some(open @ (ValueType::Pairs | ValueType::Schemas))) => {
            table.values().for_each(|value| hide(value, Some(open), text, hidden));
        }
        (DeValue::Table(table), _) => walk(table, None, text, hidden),
        (DeValue::Array(items), _) => items.iter().for_each(|item| hide(item, takes, text, hidden)),
        (_, None | Some(ValueType::Secrets | ValueType::Secret)) => hidden.extend(closed(value.span(), text)),
        (DeValue::String(_), Some(ValueType::Address { .. } | ValueType::AddressOr { .. })) => {
            hidden.extend(credentials(value.span(), text))
        }
        _ => {}
    }
}

/// The ranges of a hidden value. Its quotes and the names of its placeholders stay visible.
fn closed(span: Range<usize>, text: &str) -> Vec<Range<usize>> {
    let raw = text.get(span.clone()).unwrap_or_default();
    let quotes = delimiter(raw);
    let inner = raw.get(quotes..raw.len().saturating_sub(quotes)).unwrap_or_default();
    let mut hidden = Vec::new();
    let mut from = span.start + quotes;
    for placeholder in interpolate::placeholders(inner) {
        hidden.push(from..span.start + quotes + placeholder.start);
        from = span.start + quotes + placeholder.end;
    }
    hidden.push(from..span.start + quotes + inner.len());
    hidden.retain(|range| !range.is_empty());
    hidden
}

/// The number of quotes on each side of a value.
fn delimiter(raw: &str) -> usize {
    if raw.starts_with("\"\"\"") || raw.starts_with("'''") {
        3
    } else {
        usize::from(raw.starts_with(['"', '\'']))
    }
}

/// The parts of an address that may contain a password: user information and query.
fn credentials(span: Range<usize>, text: &str) -> Vec<Range<usize>> {
    let raw = text.get(span.clone()).unwrap_or_default();
    let begin = raw.find("://").map_or(delimiter(raw), |at| at + 3);
    let rest = raw.get(begin..).unwrap_or_default().trim_end_matches(['"', '\'']);
    let mut hidden = Vec::new();
    if let Some(at) = rest.rfind('@').filter(|at| *at > 0) {
        hidden.push(span.start + begin..span.start + begin + at);
    }
    if let Some(at) = rest.find(['?', '#']) {
        hidden.push(span.start + begin + at + 1..span.start + begin + rest.len());
    }
    hidden
}

/// The hidden ranges of a file with syntax errors, line by line. Table headers and `key = value` under a
/// harmless key are shown, everything else is hidden.
pub(in crate::config) fn of_broken(text: &str) -> Vec<Range<usize>> {
    let mut hidden = Vec::new();
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        let end = begin + line.trim_end().len();
        if let Some(from) = closed_from(line) {
            hidden.push(begin + from..end.max(begin + from));
        }
        begin += line.len();
    }
    hidden
}

/// The column from which a line of a broken file is hidden.
fn closed_from(line: &str) -> Option<usize> {
    let indent = line.len() - line.trim_start().len();
    let start = line.trim_start();
    let name = start.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    let after = start.get(name.len()..).unwrap_or_default().trim();
    let keys = all_keys(ROOT);
    let Some(key) = keys.iter().find(|key| key.name == name) else {
        let is_near = after.starts_with('=') && nearest(name, keys.iter().map(|key| key.name)).is_some();
        let shown = if is_near { name.len() } else { 0 };
        return (!is_header(start)).then_some(indent + shown);
    };
    let harmless = matches!(
        key.takes,
        ValueType::Flag { .. }
            | ValueType::Number(_)
            | ValueType::Servers
            | ValueType::Choice(_)
            | ValueType::Text { .. }
            | ValueType::Texts { .. }
    );
    let is_alone = after.matches('=').count() <= 1;
    (!harmless || !is_alone).then_some(indent + name.len())
}

/// Whether a line looks like `[table]`: a bracket and a name, without quotes.
fn is_header(line: &str) -> bool {
    let named = line.trim_start_matches('[');
    named.len() < line.len() && !line.contains(['"', '\'', '=', ',']) && !named.is_empty()
}

fn all_keys(keys: &'static [ConfigKey]) -> Vec<&'static ConfigKey> {
    keys.iter()
        .flat_map(|key| match key.takes {
            ValueType::Table(inner)
            | ValueType::Tables(inner)
            | ValueType::Named(inner)
            | ValueType::AddressOr { keys: inner, .. } => [vec![key], all_keys(inner)].concat(),
            _ => vec![key],
        })
        .collect()
}
