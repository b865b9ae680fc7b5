//! Names a stranger can guess: a type is a noun, no type name stands twice in a package, and no name or sentence uses a
//! word of the old vocabulary.
//!
//! Every Rust and Python file and every document of the repository is checked, so that a new one need not be listed.

mod definitions;
mod modules;
mod nouns;
mod prose;
#[cfg(test)]
mod tests;
mod vocabulary;

use std::collections::BTreeMap;
use std::path::Path;

use crate::problem::Problem;
use crate::rust::{Kind, Token};
use crate::tree::{is_python, root, shown, texts_below};
use crate::{python, rust};
use definitions::{Definition, ItemKind};

pub(super) fn check() -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut packages: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for (path, text) in texts_below(&root()) {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => packages.entry(package(&path)).or_default().push((shown(&path), text)),
            Some("md") => problems.extend(prose::in_document(&shown(&path), &text)),
            _ if is_python(&path, &text) => problems.extend(check_script(&shown(&path), &text)),
            _ => {}
        }
    }
    for (package, files) in &packages {
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        problems.extend(check_package(package, &files));
    }
    problems
}

/// The nearest folder with a manifest, or the file's own folder.
fn package(path: &Path) -> String {
    let folders = path.ancestors().skip(1).take_while(|folder| *folder != root());
    let manifest = folders.into_iter().find(|folder| folder.join("Cargo.toml").is_file());
    shown(manifest.or(path.parent()).unwrap_or(path))
}

/// All findings in a Python file.
fn check_script(path: &str, text: &str) -> Vec<Problem> {
    let tokens = python::tokens(text);
    let classes = definitions::classes(&tokens);
    let mut problems = check_text(path, &tokens);
    problems.extend(classes.iter().filter_map(|class| vocabulary::in_definition(path, class)));
    problems.extend(classes.iter().filter_map(|class| nouns::in_definition(path, class)));
    problems
}

/// All findings in the Rust files of one package, given by path and text.
fn check_package(package: &str, files: &[(&str, &str)]) -> Vec<Problem> {
    let conditions = modules::conditions(files);
    let mut problems = Vec::new();
    let mut types: BTreeMap<(&str, &str), Vec<(&str, Definition<'_>)>> = BTreeMap::new();
    for (path, text) in files {
        problems.extend(check_text(path, &rust::tokens(text)));
        for mut definition in definitions::of_source(text) {
            definition.conditions.extend(conditions.get(*path).cloned().unwrap_or_default());
            problems.extend(vocabulary::in_definition(path, &definition));
            if definition.kind == ItemKind::Type {
                problems.extend(nouns::in_definition(path, &definition));
                let unit = unit(path.strip_prefix(package).unwrap_or(path));
                types.entry((unit, definition.name)).or_default().push((path, definition));
            }
        }
    }
    problems.extend(types.values().flat_map(|same| twice(same)));
    problems
}

/// Old words in the path, in names and in comments of a source file.
fn check_text(path: &str, tokens: &[Token<'_>]) -> Vec<Problem> {
    let mut problems = vocabulary::in_file_name(path);
    problems.extend(vocabulary::in_identifiers(path, tokens));
    for comment in tokens.iter().filter(|token| token.kind == Kind::Comment) {
        problems.extend(prose::in_comment(path, comment));
    }
    problems
}

/// The part of a package that a file belongs to: each program under `src/bin` stands alone, the rest of `src` belongs
/// together, and so do all tests, which a reader sees as one.
fn unit(path: &str) -> &str {
    match path.split_once("/src/bin/") {
        Some((_, below)) => below.split(['/', '.']).next().unwrap_or_default(),
        None if path.starts_with("/src/") => "/src",
        None => "/tests",
    }
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
