//! The conditions a file stands under, from the `mod` lines that lead to it.

use std::collections::BTreeMap;

use super::definitions::{Definition, ItemKind, of_source};

/// For each file, the predicates of every `#[cfg]` on its declaration and on those above it.
pub(super) fn conditions(files: &[(&str, &str)]) -> BTreeMap<String, Vec<String>> {
    let mut declared: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
    for (path, text) in files {
        for definition in of_source(text) {
            for file in candidates(path, &definition) {
                declared.insert(file, ((*path).to_owned(), definition.conditions.clone()));
            }
        }
    }
    files.iter().map(|(path, _)| ((*path).to_owned(), above(path, &declared))).collect()
}

/// The files a `mod` line may mean.
fn candidates(path: &str, definition: &Definition<'_>) -> Vec<String> {
    if definition.kind != ItemKind::Module {
        return Vec::new();
    }
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    if let Some(named) = definition.path {
        return vec![format!("{folder}/{named}")];
    }
    let name = definition.name;
    match file.strip_suffix(".rs") {
        Some("lib" | "main" | "mod") | None => vec![format!("{folder}/{name}.rs")],
        Some(stem) => vec![format!("{folder}/{stem}/{name}.rs")],
    }
}

fn above(path: &str, declared: &BTreeMap<String, (String, Vec<String>)>) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = path;
    for _ in 0..32 {
        let Some((parent, conditions)) = declared.get(at) else { break };
        found.extend(conditions.iter().cloned());
        at = parent;
    }
    found
}
