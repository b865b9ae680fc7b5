//! Reads typed values from a parsed file and collects every problem.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::interpolate::fill;
use super::names::{list, nearest};
use super::problem::{Problem, Sort};
use super::source::Source;
use super::value::{json, number, sort};
use crate::config::keys::{AUDIT, ConfigKey, Number, ROOT, UPSTREAM, ValueType};
use crate::parts::Part;

/// Maximum number of problems per file. It bounds the output and the time for a file of garbage.
pub(in crate::config) const MOST_PROBLEMS: usize = 100;

/// Maximum number of keys listed in one message.
const MOST_LISTED: usize = 8;

/// One table of the file with the keys it may have.
pub(in crate::config) struct Section<'t> {
    table: &'t DeTable<'t>,
    pub(in crate::config) span: Range<usize>,
    /// The path prefix of its keys, such as `upstream[0].`.
    prefix: String,
    keys: &'static [ConfigKey],
}

/// A value with its position.
pub(in crate::config) struct SourceValue<T> {
    pub(in crate::config) value: T,
    pub(in crate::config) span: Range<usize>,
    pub(in crate::config) key: String,
}

/// A name and a text value with their positions.
pub(in crate::config) struct Pair {
    pub(in crate::config) name: SourceValue<String>,
    pub(in crate::config) value: SourceValue<String>,
}

/// A name and its value in a table with free names.
type Member<'t> = (&'t Spanned<std::borrow::Cow<'t, str>>, &'t Spanned<DeValue<'t>>);

/// The source and the problems found so far.
pub(in crate::config) struct Reader<'s> {
    pub(in crate::config) source: &'s Source,
    /// The folder that relative paths start from.
    pub(in crate::config) folder: &'s Path,
    /// Lines with syntax errors. The parser's guesses for them are not checked.
    pub(in crate::config) broken: BTreeSet<usize>,
    pub(in crate::config) problems: Vec<Problem>,
}

impl<'t> Section<'t> {
    pub(in crate::config) fn root(table: &'t Spanned<DeTable<'t>>) -> Section<'t> {
        Section { table: table.get_ref(), span: table.span(), prefix: String::new(), keys: ROOT }
    }

    pub(in crate::config) fn has(&self, name: &str) -> bool {
        self.entry(name).is_some()
    }

    /// The position of a key.
    pub(in crate::config) fn key_span(&self, name: &str) -> Range<usize> {
        self.table.keys().find(|key| key.get_ref() == name).map_or(self.span.clone(), Spanned::span)
    }

    pub(in crate::config) fn path(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// The example address for a key.
    pub(in crate::config) fn example(&self, name: &str) -> Option<&'static str> {
        match self.keys.iter().find(|key| key.name == name).map(|key| &key.takes) {
            Some(ValueType::Address { example } | ValueType::AddressOr { example, .. }) => Some(example),
            _ => None,
        }
    }

    fn entry(&self, name: &str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.table.iter().find(|(key, _)| key.get_ref() == name).map(|(_, value)| value)
    }
}

impl Reader<'_> {
    /// Adds a problem.
    pub(in crate::config) fn wrong(
        &mut self,
        span: &Range<usize>,
        key: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let lines = self.source.line(span.start)..=self.source.line(span.end);
        // After a syntax error the parser may take a part of a secret for the name of a key.
        let is_guess = !self.broken.is_empty() && self.source.hides(span);
        let is_broken = self.broken.range(lines).next().is_some();
        if self.problems.len() <= MOST_PROBLEMS && !is_broken && !is_guess {
            self.problems.push(self.source.problem(span, Some(key), message, help));
        }
    }

    /// Whether this build has a part. Adds a problem if it lacks it.
    pub(in crate::config) fn has_part(&mut self, part: Part, span: &Range<usize>, key: &str) -> bool {
        if !part.is_built {
            let before = self.problems.len();
            self.wrong_extension(span, key, part.absence(), part.help());
            if let Some(problem) = self.problems.get_mut(before) {
                problem.part = Some(part);
            }
        }
        part.is_built
    }

    /// Adds a problem with a guard or extension that does not load.
    pub(in crate::config) fn wrong_extension(
        &mut self,
        span: &Range<usize>,
        key: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.wrong_as(Sort::Extension, span, key, message, help);
    }

    fn wrong_as(
        &mut self,
        sort: Sort,
        span: &Range<usize>,
        key: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let before = self.problems.len();
        self.wrong(span, key, message, help);
        if let Some(problem) = self.problems.get_mut(before) {
            problem.sort = sort;
        }
    }

    /// Adds a problem for a missing key. A file with syntax errors may contain the key, so then it adds none.
    pub(in crate::config) fn missing(
        &mut self,
        section: &Section<'_>,
        name: &str,
        message: &str,
        help: &str,
    ) {
        if self.broken.is_empty() {
            self.wrong(&section.span, &section.path(name), message, help);
        }
    }

    /// Whether a key already has a problem.
    pub(in crate::config) fn is_noted(&self, key: &str) -> bool {
        self.problems.iter().any(|problem| problem.key.as_deref() == Some(key))
    }

    /// Adds a problem for every unknown key of the section.
    pub(in crate::config) fn know(&mut self, section: &Section<'_>) {
        for key in section.table.keys() {
            let name = key.get_ref().as_ref();
            if section.keys.iter().any(|known| known.name == name) {
                continue;
            }
            let (message, help) = unknown(name, section.keys);
            self.wrong(&key.span(), &section.path(name), message, help);
        }
    }

    fn mismatch(
        &mut self,
        section: &Section<'_>,
        name: &str,
        value: &Spanned<DeValue<'_>>,
        wants: &str,
        help: &str,
    ) {
        let message = format!("`{name}` must be {wants}, not {}", sort(value.get_ref()));
        self.wrong(&value.span(), &section.path(name), message, help);
    }

    pub(in crate::config) fn text(
        &mut self,
        section: &Section<'_>,
        name: &str,
    ) -> Option<SourceValue<String>> {
        let value = section.entry(name)?;
        if let DeValue::String(text) = value.get_ref() {
            return Some(SourceValue {
                value: text.to_string(),
                span: value.span(),
                key: section.path(name),
            });
        }
        let example = section.keys.iter().find(|key| key.name == name).map(|key| &key.takes);
        let help = match example {
            Some(
                ValueType::Text { example, .. }
                | ValueType::Address { example }
                | ValueType::AddressOr { example, .. },
            ) => {
                format!("write it in quotes, such as {name} = \"{example}\"")
            }
            _ => "write it in quotes".to_owned(),
        };
        self.mismatch(section, name, value, "text", &help);
        None
    }

    /// Reads a value that must be one of the key's choices.
    pub(in crate::config) fn choice(&mut self, section: &Section<'_>, name: &str) -> Option<&'static str> {
        let found = self.text(section, name)?;
        let words = match section.keys.iter().find(|key| key.name == name).map(|key| &key.takes) {
            Some(ValueType::Choice(words)) => *words,
            _ => &[],
        };
        let word = words.iter().find(|word| **word == found.value).copied();
        if word.is_none() {
            let help = match nearest(&found.value, words.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "choose one of these values".to_owned(),
            };
            let message = format!("`{name}` must be one of: {}", words.join(", "));
            self.wrong(&found.span, &found.key, message, help);
        }
        word
    }

    /// Reads a folder path. The folder exists or can be created.
    pub(in crate::config) fn folder_to_keep(&mut self, section: &Section<'_>, name: &str) -> Option<PathBuf> {
        let found = self.text(section, name)?;
        if found.value.is_empty() {
            let message = format!("`{name}` is empty");
            self.wrong(&found.span, &found.key, message, "name a folder, or remove the line");
            return None;
        }
        // `./state` in the current folder is shown as such, not as `././state`.
        let folder: PathBuf = self.folder.join(found.value).components().collect();
        let there = folder.ancestors().find(|above| above.exists());
        if there.is_some_and(|there| !there.is_dir()) {
            let how = if folder.exists() { "names" } else { "is below" };
            let message = format!("`{name}` {how} a file");
            self.wrong(&found.span, &found.key, message, "name a folder that exists or can be created");
        }
        Some(folder)
    }

    /// Expands the placeholders of a text.
    pub(in crate::config) fn filled(&mut self, value: &SourceValue<String>) -> Option<String> {
        let flaws = match fill(&value.value, self.folder) {
            Ok(text) => return Some(text),
            Err(flaws) => flaws,
        };
        for flaw in flaws {
            // A value written with escapes has no exact position for the placeholder.
            let at = self.source.slice(&value.span).find(&flaw.written);
            let span = at.map_or(value.span.clone(), |at| {
                value.span.start + at..value.span.start + at + flaw.written.len()
            });
            self.wrong_as(Sort::Placeholder, &span, &value.key, flaw.message, flaw.help);
        }
        None
    }

    pub(in crate::config) fn flag(&mut self, section: &Section<'_>, name: &str) -> Option<bool> {
        let value = section.entry(name)?;
        if let DeValue::Boolean(flag) = value.get_ref() {
            return Some(*flag);
        }
        self.mismatch(section, name, value, "true or false", "write true or false without quotes");
        None
    }

    pub(in crate::config) fn number(&mut self, section: &Section<'_>, wanted: &Number) -> u64 {
        let Some(value) = section.entry(wanted.name) else { return wanted.default };
        let Number { name, from, to, .. } = *wanted;
        match number(value.get_ref()) {
            None => {
                let help = format!("write a number from {from} to {to} without quotes");
                self.mismatch(section, name, value, "a whole number", &help);
            }
            Some(found) => match u64::try_from(found) {
                Ok(found) if (from..=to).contains(&found) => return found,
                _ => {
                    let message = format!("`{name}` is out of range");
                    let mut help = format!("give it a value from {from} to {to}");
                    // A default outside of the range means that the key is optional.
                    if wanted.default >= from {
                        help.push_str(&format!("; the default is {}", wanted.default));
                    }
                    self.wrong(&value.span(), &section.path(name), message, help);
                }
            },
        }
        wanted.default
    }

    pub(in crate::config) fn texts(
        &mut self,
        section: &Section<'_>,
        name: &str,
    ) -> Option<Vec<SourceValue<String>>> {
        let value = section.entry(name)?;
        let help = format!("write it as {name} = [\"…\", \"…\"]");
        let DeValue::Array(items) = value.get_ref() else {
            let split = match value.get_ref() {
                DeValue::String(_) if !self.source.hides(&value.span()) => {
                    words_as_list(self.source.slice(&value.span()))
                }
                _ => None,
            };
            let help = split.map_or(help, |list| format!("write it as {name} = {list}"));
            self.mismatch(section, name, value, "a list of text", &help);
            return None;
        };
        let mut found = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match item.get_ref() {
                DeValue::String(text) => {
                    let key = format!("{}[{index}]", section.path(name));
                    found.push(SourceValue { value: text.to_string(), span: item.span(), key });
                }
                _ => self.mismatch(section, name, item, "text in its list", &help),
            }
        }
        Some(found)
    }

    pub(in crate::config) fn pairs(&mut self, section: &Section<'_>, name: &str) -> Vec<Pair> {
        let Some(value) = section.entry(name) else { return Vec::new() };
        let DeValue::Table(table) = value.get_ref() else {
            let help = format!("write it as {name} = {{ NAME = \"…\" }}");
            self.mismatch(section, name, value, "a table of text", &help);
            return Vec::new();
        };
        let mut found = Vec::new();
        for (inner, value) in table {
            let key = format!("{}.{}", section.path(name), inner.get_ref());
            match value.get_ref() {
                DeValue::String(text) => found.push(Pair {
                    name: SourceValue {
                        value: inner.get_ref().to_string(),
                        span: inner.span(),
                        key: key.clone(),
                    },
                    value: SourceValue { value: text.to_string(), span: value.span(), key },
                }),
                other => {
                    let message = format!("`{name}.{}` must be text, not {}", inner.get_ref(), sort(other));
                    self.wrong(&value.span(), &key, message, "write its value in quotes");
                }
            }
        }
        found
    }

    /// The tables within a table, each with its name.
    pub(in crate::config) fn named<'t>(
        &mut self,
        section: &Section<'t>,
        name: &str,
    ) -> Vec<(SourceValue<String>, Section<'t>)> {
        let help = format!("write [{}.<name>] above its keys", section.path(name));
        let mut found = Vec::new();
        for (inner, value) in self.members(section, name, &help) {
            let key = format!("{}.{}", section.path(name), inner.get_ref());
            let DeValue::Table(table) = value.get_ref() else {
                let message =
                    format!("`{name}.{}` must be a table, not {}", inner.get_ref(), sort(value.get_ref()));
                self.wrong(&value.span(), &key, message, help.as_str());
                continue;
            };
            let keys = inner_keys(section, name);
            let inside = Section { table, span: inner.span(), prefix: format!("{key}."), keys };
            self.know(&inside);
            found.push((SourceValue { value: inner.get_ref().to_string(), span: inner.span(), key }, inside));
        }
        found
    }

    /// The values of a table with free names, as JSON.
    pub(in crate::config) fn anything(
        &mut self,
        section: &Section<'_>,
        name: &str,
    ) -> Vec<(SourceValue<String>, serde_json::Value)> {
        self.schemas(section, name)
    }

    /// The JSON Schemas of a table with free names.
    pub(in crate::config) fn schemas(
        &mut self,
        section: &Section<'_>,
        name: &str,
    ) -> Vec<(SourceValue<String>, serde_json::Value)> {
        let help = format!("write it as {name} = {{ tool = {{ … }} }}");
        let members = self.members(section, name, &help);
        let found = members.into_iter().map(|(inner, value)| {
            let key = format!("{}.{}", section.path(name), inner.get_ref());
            (
                SourceValue { value: inner.get_ref().to_string(), span: inner.span(), key },
                json(value.get_ref()),
            )
        });
        found.collect()
    }

    /// The members of a table with free names.
    fn members<'t>(&mut self, section: &Section<'t>, name: &str, help: &str) -> Vec<Member<'t>> {
        match section.entry(name).map(|value| (value, value.get_ref())) {
            Some((_, DeValue::Table(table))) => table.iter().collect(),
            Some((value, _)) => {
                self.mismatch(section, name, value, "a table", help);
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    pub(in crate::config) fn table<'t>(&mut self, section: &Section<'t>, name: &str) -> Option<Section<'t>> {
        let (value, keys) = (section.entry(name)?, inner_keys(section, name));
        let DeValue::Table(table) = value.get_ref() else {
            let names: Vec<String> = keys.iter().map(|key| format!("{} = …", key.name)).collect();
            self.mismatch(
                section,
                name,
                value,
                "a table",
                &format!("write it as {name} = {{ {} }}", names.join(", ")),
            );
            return None;
        };
        let prefix = format!("{}.", section.path(name));
        let inner = Section { table, span: section.key_span(name), prefix, keys };
        self.know(&inner);
        Some(inner)
    }

    /// Whether the value is a table. Some keys take either text or a table.
    pub(in crate::config) fn is_table(section: &Section<'_>, name: &str) -> bool {
        section.entry(name).is_some_and(|value| matches!(value.get_ref(), DeValue::Table(_)))
    }

    pub(in crate::config) fn tables<'t>(&mut self, section: &Section<'t>, name: &str) -> Vec<Section<'t>> {
        let Some(value) = section.entry(name) else { return Vec::new() };
        let help = format!("write [[{}]] with two pairs of brackets above each one", section.path(name));
        let items = match value.get_ref() {
            DeValue::Array(items) => items,
            other => {
                let message = format!("`{name}` must be a list of tables, not {}", sort(other));
                self.wrong(&section.key_span(name), &section.path(name), message, help);
                return Vec::new();
            }
        };
        let mut found = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let DeValue::Table(table) = item.get_ref() else {
                self.mismatch(section, name, item, "a list of tables", &help);
                continue;
            };
            let prefix = format!("{}[{index}].", section.path(name));
            let inner = Section { table, span: item.span(), prefix, keys: inner_keys(section, name) };
            self.know(&inner);
            found.push(inner);
        }
        found
    }
}

/// The words of a quoted text as a list, unless quotes or escapes inside make their borders doubtful.
fn words_as_list(raw: &str) -> Option<String> {
    let text = raw.strip_prefix(['"', '\''])?.strip_suffix(['"', '\''])?;
    let words: Vec<String> = text.split_whitespace().map(|word| format!("\"{word}\"")).collect();
    let is_plain = !text.contains(['"', '\'', '\\']) && text.chars().count() <= 200;
    (is_plain && !words.is_empty()).then(|| format!("[{}]", words.join(", ")))
}

fn inner_keys(section: &Section<'_>, name: &str) -> &'static [ConfigKey] {
    match section.keys.iter().find(|key| key.name == name).map(|key| &key.takes) {
        Some(
            ValueType::Table(keys)
            | ValueType::Tables(keys)
            | ValueType::Named(keys)
            | ValueType::AddressOr { keys, .. },
        ) => keys,
        _ => &[],
    }
}

/// The message and help for an unknown key.
fn unknown(name: &str, keys: &[ConfigKey]) -> (String, String) {
    let holds = |keys: &[ConfigKey]| keys.iter().any(|key| key.name == name);
    if holds(ROOT) {
        let help = format!("move `{name}` to the top of the file, above the first [[upstream]]");
        return (format!("`{name}` does not belong here"), help);
    }
    if holds(UPSTREAM) {
        return (format!("`{name}` does not belong here"), format!("move `{name}` to its [[upstream]]"));
    }
    if holds(AUDIT) && !keys.iter().any(|key| key.name == "critical") {
        return (format!("`{name}` does not belong here"), format!("move `{name}` below [audit]"));
    }
    let names = || keys.iter().map(|key| key.name);
    let help = match nearest(name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if keys.len() > MOST_LISTED => "`failwell check --schema` shows the keys there are".to_owned(),
        None => format!("the keys here are {}", list(names())),
    };
    (format!("unknown key `{name}`"), help)
}
