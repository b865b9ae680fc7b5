//! Names a stranger can guess: no type name twice in a crate, no bare participle, no word of the old vocabulary.
//!
//! The checks hold for every crate, and for the folders and documents of [`CHECKED`].

mod definitions;
mod modules;
mod participles;
mod prose;
mod vocabulary;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::problem::Problem;
use crate::tree::{files_below, read, root, shown};
use definitions::{Definition, ItemKind};

/// Folders of crates: each folder below is one crate.
const CRATES: &[&str] = &["crates", "emulators", "servers"];

/// Other crates, folders of documents and single documents in which names are checked.
const CHECKED: &[&str] = &[
    "docs/adr",
    "docs/guide",
    "docs/sources.md",
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "STYLE.md",
    "xtask",
];

pub(super) fn check() -> Vec<Problem> {
    let others = CHECKED.iter().map(|place| root().join(place));
    crates().into_iter().chain(others).flat_map(|place| check_place(&place)).collect()
}

/// Every crate of the workspace, so that a new one is checked without being listed.
fn crates() -> Vec<PathBuf> {
    let below = |folder: &&str| std::fs::read_dir(root().join(folder)).into_iter().flatten().flatten();
    let folders = CRATES.iter().flat_map(below).map(|entry| entry.path());
    let mut crates: Vec<PathBuf> = folders.filter(|folder| folder.join("Cargo.toml").is_file()).collect();
    crates.sort();
    crates
}

fn check_place(place: &Path) -> Vec<Problem> {
    let files: Vec<PathBuf> = if place.is_file() { vec![place.to_path_buf()] } else { files_below(place) };
    if files.is_empty() {
        let what = format!("{} is checked for names and is not there", shown(place));
        return vec![Problem::new(what, "correct CHECKED in xtask/src/tidy/names.rs")];
    }
    let mut sources = Vec::new();
    let mut problems = Vec::new();
    for path in files {
        let Ok(text) = read(&path) else { continue };
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => sources.push((path, text)),
            Some("md") => problems.extend(prose::in_document(&shown(&path), &text)),
            _ => {}
        }
    }
    let shown_sources: Vec<(String, &str)> =
        sources.iter().map(|(path, text)| (shown(path), text.as_str())).collect();
    problems.extend(check_crate(&shown(place), &shown_sources));
    problems
}

/// All findings in the Rust files of one crate, given by path and text.
fn check_crate(place: &str, files: &[(String, &str)]) -> Vec<Problem> {
    let shipped = format!("{place}/src/");
    let conditions = modules::conditions(files);
    let mut problems = Vec::new();
    let mut types: BTreeMap<(&str, &str), Vec<(&str, Definition<'_>)>> = BTreeMap::new();
    for (path, text) in files {
        problems.extend(vocabulary::in_file_name(path));
        problems.extend(prose::in_comments(path, text));
        for mut definition in definitions::of_source(text) {
            definition.conditions.extend(conditions.get(path.as_str()).cloned().unwrap_or_default());
            problems.extend(vocabulary::in_definition(path, &definition));
            if definition.kind == ItemKind::Type && path.starts_with(&shipped) && !definition.is_test() {
                problems.extend(participles::in_definition(path, &definition));
                types.entry((unit(path), definition.name)).or_default().push((path, definition));
            }
        }
    }
    problems.extend(types.values().flat_map(|same| twice(same)));
    problems
}

/// The unit of compilation a file belongs to: each program under `src/bin` is one of its own.
fn unit(path: &str) -> &str {
    let program = path.split_once("/src/bin/").map(|(_, below)| below);
    program.and_then(|below| below.split(['/', '.']).next()).unwrap_or_default()
}

/// Every definition of a name that can be in the same build as an earlier one.
fn twice(same: &[(&str, Definition<'_>)]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, (path, definition)) in same.iter().enumerate() {
        let earlier = same.iter().take(index).find(|(_, other)| !definition.excludes(other));
        if let Some((first, other)) = earlier {
            let what = format!(
                "{path}:{}: the type `{}` is defined in {first}:{} too",
                definition.line, definition.name, other.line
            );
            problems.push(Problem::new(what, "give each a name of its own that says what it is"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::{check_crate, crates, shown};

    /// The folders that hold several crates are not taken for one.
    #[test]
    fn every_crate_is_checked_by_itself() {
        let crates: Vec<String> = crates().iter().map(|path| shown(path)).collect();
        for wanted in ["crates/pipeline", "servers/demo", "emulators/rtm"] {
            assert!(crates.iter().any(|path| path == wanted), "{wanted} is not in {crates:?}");
        }
    }

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<(String, &str)> =
            files.iter().map(|(path, text)| (format!("crates/x/{path}"), *text)).collect();
        check_crate("crates/x", &files).into_iter().map(|problem| problem.what).collect()
    }

    #[test]
    fn a_type_name_stands_once_in_a_crate() {
        let twice = [("src/a.rs", "struct Entry;"), ("src/b.rs", "mod c { enum Entry { A } }")];
        assert_eq!(
            findings(&twice),
            ["crates/x/src/b.rs:1: the type `Entry` is defined in crates/x/src/a.rs:1 too"]
        );
        for fine in [
            [("src/a.rs", "struct Entry;"), ("src/b.rs", "fn entry() { let x = \"struct Entry;\"; }")],
            [("src/a.rs", "struct Entry;"), ("src/b.rs", "#[cfg(test)]\nmod tests { struct Entry; }")],
            [("src/a.rs", "struct Entry;"), ("tests/b.rs", "struct Entry;")],
            [("src/bin/a.rs", "struct Entry;"), ("src/bin/b/main.rs", "struct Entry;")],
            [("src/a.rs", "type Item = u8;"), ("src/b.rs", "impl Iterator for A { type Item = u8; }")],
            [("src/a.rs", "trait A { type Item; }"), ("src/b.rs", "trait B { type Item; }")],
        ] {
            assert_eq!(findings(&fine), Vec::<String>::new(), "{fine:?}");
        }
    }

    /// One of the two is in any build.
    #[test]
    fn opposite_conditions_exclude_each_other() {
        let parts = |first: &'static str, second: &'static str| {
            findings(&[
                ("src/lib.rs", first),
                ("src/guard.rs", "pub struct Guard;"),
                ("src/guard_absent.rs", second),
            ])
        };
        let opposite = "#[cfg(feature = \"wasm\")]\nmod guard;\n#[cfg(not(feature = \"wasm\"))]\n#[path = \"guard_absent.rs\"]\nmod guard;";
        assert_eq!(parts(opposite, "pub struct Guard;"), Vec::<String>::new());
        assert_eq!(parts(opposite, "struct Guard; struct Guard;").len(), 1);
        let alike = "#[cfg(feature = \"wasm\")] mod guard; #[cfg(feature = \"other\")] mod guard_absent;";
        assert_eq!(parts(alike, "pub struct Guard;").len(), 1);
        let here = "#[cfg(unix)] struct Pipe; #[cfg(not(unix))] struct Pipe;";
        assert_eq!(findings(&[("src/lib.rs", here)]), Vec::<String>::new());
    }

    #[test]
    fn a_type_is_no_bare_participle() {
        for name in ["Kept", "Told", "Listed", "Running", "Unknown", "Unheard"] {
            let text = format!("pub(crate) enum {name} {{ A }}");
            assert_eq!(findings(&[("src/a.rs", &text)]).len(), 1, "{name}");
        }
        for name in ["Setting", "Feed", "Seed", "Ring", "Encoding", "StoredFile", "RunningChild", "Bed"] {
            let text = format!("struct {name};");
            assert_eq!(findings(&[("src/a.rs", &text)]), Vec::<String>::new(), "{name}");
        }
        let test_only = "#[cfg(test)] mod tests { struct Kept; }";
        assert_eq!(findings(&[("src/a.rs", test_only)]), Vec::<String>::new());
    }

    #[test]
    fn old_words_are_found_in_names() {
        for (path, text) in [
            ("src/a.rs", "struct House;"),
            ("src/a.rs", "trait Room {}"),
            ("src/a.rs", "struct ApprovalDesk;"),
            ("src/a.rs", "fn heed(&self) {}"),
            ("src/a.rs", "fn jot_down() {}"),
            ("src/a.rs", "mod veil;"),
            ("src/turnstile.rs", ""),
            ("src/patrons/list.rs", ""),
            ("tests/a.rs", "struct Cloakroom;"),
        ] {
            assert_eq!(findings(&[(path, text)]).len(), 1, "{path}: {text}");
        }
        for text in [
            "fn read() { let lobby = \"lobby\"; }",
            "static SHELF: &str = \"shelf/FULL\";",
            "fn is_letter() {}",
        ] {
            assert_eq!(findings(&[("src/a.rs", text)]), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn old_words_are_found_in_comments() {
        for text in [
            "// The house asks.",
            "//! Every room has\n",
            "/// See [`House`].",
            "/* porters */",
            "// the server's room",
        ] {
            assert_eq!(findings(&[("src/a.rs", text)]).len(), 1, "{text}");
        }
        for text in [
            "// There is room for ten.",
            "// The reason `shelf/FULL` and the table `[shelf]`.",
            "// A small letter and a witness.",
            "let text = \"the house\";",
        ] {
            assert_eq!(findings(&[("src/a.rs", text)]), Vec::<String>::new(), "{text}");
        }
    }
}
