//! Any text as a configuration file. The reader reaches the end of every file, every problem has a position in it, and no
//! problem shows a secret.
//!
//! The sources are included directly, because reading the file needs no other part of the program.
#![no_main]

// The table of keys uses types of two servers and of the command line. The types below replace them.
extern crate self as failwell_device;
extern crate self as failwell_tasks;

use std::path::Path;

use config::read;
use libfuzzer_sys::fuzz_target;

/// The marker of a secret. No problem may print it if it occurs only in values that are hidden.
const SECRET: &str = "s3cr3t";

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let read = read(Path::new("failwell.toml"), text);
    let lines = text.matches('\n').count() + 1;
    let is_hidden = text.match_indices(SECRET).all(|(at, secret)| {
        read.hidden.iter().any(|range| range.start <= at && at + secret.len() <= range.end)
    });
    for range in &read.hidden {
        assert!(text.get(range.clone()).is_some(), "{range:?} is no part of the text");
    }
    for problem in &read.problems {
        assert!(problem.line().is_none_or(|line| (1..=lines).contains(&line)), "{problem:?}");
        let shown = format!("{} {problem:?}", problem.text(terminal::Paint));
        assert!(!is_hidden || !shown.contains(SECRET), "{shown}");
    }
});

struct DriverKind;

impl DriverKind {
    const NAMES: [&str; 2] = ["chromedriver", "simctl"];
}

struct TokenStore;

impl TokenStore {
    const NAMES: [&str; 2] = ["keyring", "file"];
}

/// Without colours.
mod terminal {
    #[derive(Clone, Copy)]
    pub(crate) struct Paint;

    impl Paint {
        pub(crate) fn red(self, text: &str) -> String {
            text.to_owned()
        }

        pub(crate) fn faint(self, text: &str) -> String {
            text.to_owned()
        }

        pub(crate) fn bold(self, text: &str) -> String {
            text.to_owned()
        }
    }
}

/// Replaces the error of a command, which no file can cause.
mod complaint {
    pub(crate) struct Complaint;

    impl Complaint {
        pub(crate) fn new(_: String, _: String) -> Complaint {
            Complaint
        }
    }
}

#[allow(dead_code, unexpected_cfgs, reason = "only the reader is used here")]
#[path = "../../crates/failwell/src/parts.rs"]
mod parts;

#[allow(dead_code, unexpected_cfgs, unused_imports, reason = "only the reader is used here")]
#[path = "../../crates/failwell/src/config"]
mod config {
    mod builtin;
    mod keys;
    mod parse;

    use std::ops::Range;
    use std::path::Path;

    use toml::de::DeTable;

    pub(crate) use builtin::Builtin;
    pub(crate) use parse::problem::Problem;

    use keys::{ConfigKey, ROOT, ValueType};
    use parse::reader::{Reader, Section};
    use parse::source::Source;
    use parse::{secret_spans, syntax};

    pub(crate) struct ReadFile {
        pub(crate) problems: Vec<Problem>,
        /// The parts of the text that no problem may show.
        pub(crate) hidden: Vec<Range<usize>>,
    }

    /// Reads a file as `file.rs` does, with every key read by its type.
    pub(crate) fn read(path: &Path, text: &str) -> ReadFile {
        let (table, errors) = DeTable::parse_recoverable(text);
        let hidden = match errors.is_empty() {
            true => secret_spans::of_table(table.get_ref(), text),
            false => secret_spans::of_broken(text),
        };
        let source = Source::new(path.to_owned(), text.to_owned(), hidden.clone());
        let (broken, problems) = syntax::report(&source, &errors);
        // No such folder exists, so that no placeholder reads a file.
        let folder = Path::new("/nonexistent");
        let mut reader = Reader { source: &source, folder, broken, problems };
        if !syntax::is_lost(&source, &reader.broken) {
            let root = Section::root(&table);
            reader.know(&root);
            read_keys(&mut reader, &root, ROOT);
        }
        ReadFile { problems: reader.problems, hidden }
    }

    fn read_keys(reader: &mut Reader<'_>, section: &Section<'_>, keys: &'static [ConfigKey]) {
        for ConfigKey { name, takes, .. } in keys {
            match takes {
                ValueType::Text { .. } | ValueType::Address { .. } => drop(reader.text(section, name)),
                ValueType::AddressOr { keys, .. } if Reader::is_table(section, name) => {
                    read_table(reader, section, name, keys)
                }
                ValueType::AddressOr { .. } => drop(reader.text(section, name)),
                ValueType::Choice(_) => drop(reader.choice(section, name)),
                ValueType::Secret => {
                    if let Some(value) = reader.text(section, name).filter(|value| is_harmless(&value.value))
                    {
                        reader.filled(&value);
                    }
                }
                ValueType::Flag { .. } => drop(reader.flag(section, name)),
                ValueType::Number(number) => drop(reader.number(section, number)),
                ValueType::Texts { .. } | ValueType::Servers => drop(reader.texts(section, name)),
                ValueType::Secrets | ValueType::Pairs => {
                    for pair in reader.pairs(section, name) {
                        if is_harmless(&pair.value.value) {
                            reader.filled(&pair.value);
                        }
                    }
                }
                ValueType::Schemas | ValueType::Anything => drop(reader.schemas(section, name)),
                ValueType::Named(keys) => {
                    for (_, inner) in reader.named(section, name) {
                        read_keys(reader, &inner, keys);
                    }
                }
                ValueType::Table(keys) => read_table(reader, section, name, keys),
                ValueType::Tables(keys) => {
                    for inner in reader.tables(section, name) {
                        read_keys(reader, &inner, keys);
                    }
                }
            }
        }
    }

    fn read_table(reader: &mut Reader<'_>, section: &Section<'_>, name: &str, keys: &'static [ConfigKey]) {
        if let Some(inner) = reader.table(section, name) {
            read_keys(reader, &inner, keys);
        }
    }

    /// An absolute path in a placeholder would read a file of this machine.
    fn is_harmless(value: &str) -> bool {
        !value.contains("file:")
    }
}
