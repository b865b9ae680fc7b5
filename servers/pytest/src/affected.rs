//! The test files that a change can affect: changed files, and files that import a changed one directly or
//! indirectly. A change that imports cannot trace (settings, data, conftest) affects all tests.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use failwell_process::{Caps, ExitCause, Launcher, Limits, Plan};

use crate::run::environment::environment;

const GIT: Duration = Duration::from_secs(20);
const MOST_FILES: usize = 20_000;
const LARGEST_SOURCE: u64 = 4 * 1024 * 1024;
/// Extensions of files that do not affect tests.
const HARMLESS: [&str; 5] = ["md", "rst", "txt", "gitignore", "lock"];

/// The tests to run after a change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AffectedTests {
    /// All tests, for this reason.
    All(&'static str),
    /// Only these files. The list can be empty.
    Files(Vec<String>),
}

/// Determines the tests that changes since a revision affect.
pub(crate) async fn affected_tests(launcher: &Launcher, root: &Path, revision: &str) -> AffectedTests {
    let diff = ["diff", "--name-only", "-z", "--relative", "--no-ext-diff", revision, "--"];
    let Some(changed) = git(launcher, root, &diff).await else {
        return AffectedTests::All("git could not say what changed since that revision");
    };
    let Some(new) = git(launcher, root, &["ls-files", "--others", "--exclude-standard", "-z"]).await else {
        return AffectedTests::All("git could not say which files are new");
    };
    let changed: BTreeSet<String> = changed.into_iter().chain(new).collect();
    let root = root.to_owned();
    let found = tokio::task::spawn_blocking(move || select(&root, &changed)).await;
    found.unwrap_or(AffectedTests::All("the imports could not be read"))
}

async fn git(launcher: &Launcher, root: &Path, arguments: &[&str]) -> Option<Vec<String>> {
    let mut plan =
        Plan::new("git", root).arguments(["--no-optional-locks", "--literal-pathspecs"]).arguments(arguments);
    plan.environment = environment(&[]).with("GIT_CONFIG_NOSYSTEM", "1").with("GIT_TERMINAL_PROMPT", "0");
    plan.limits = Limits { wall: Some(GIT), ..Limits::default() };
    plan.output = Caps { head: 8 * 1024 * 1024, tail: 0 };
    let ended = launcher.start(plan).await.ok()?.wait().await;
    if ended.how != ExitCause::Code(0) || ended.output.stdout.cut() > 0 {
        return None;
    }
    let text = String::from_utf8(ended.output.stdout.to_bytes()).ok()?;
    Some(text.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

fn select(root: &Path, changed: &BTreeSet<String>) -> AffectedTests {
    for name in changed {
        let path = Path::new(name);
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if path.file_name().is_some_and(|file| file == "conftest.py") {
            return AffectedTests::All("a conftest.py changed");
        }
        if extension != "py" && !HARMLESS.contains(&extension) {
            return AffectedTests::All("something other than Python code changed");
        }
    }
    let Some(sources) = sources(root) else { return AffectedTests::All("the project has too many files") };
    let importers = importers(root, &sources);
    let mut reached: HashSet<PathBuf> = HashSet::new();
    let mut waiting: Vec<PathBuf> = changed
        .iter()
        .map(PathBuf::from)
        .filter(|path| path.extension().is_some_and(|e| e == "py"))
        .collect();
    while let Some(file) = waiting.pop() {
        if reached.insert(file.clone()) {
            waiting.extend(importers.get(&file).into_iter().flatten().cloned());
        }
    }
    if reached.iter().any(|path| path.file_name().is_some_and(|name| name == "conftest.py")) {
        return AffectedTests::All("a conftest.py imports what changed");
    }
    let mut tests: Vec<String> = reached
        .into_iter()
        .filter(|path| is_test(path) && root.join(path).is_file())
        .filter_map(|path| path.to_str().map(str::to_owned))
        .collect();
    tests.sort();
    AffectedTests::Files(tests)
}

fn is_test(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    stem.starts_with("test_") || stem.ends_with("_test") || stem == "tests"
}

/// All Python files of the project, without hidden folders and environments.
fn sources(root: &Path) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(root.join(&folder)) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let hidden = name
                .to_str()
                .is_none_or(|name| name.starts_with('.') || name == "__pycache__" || name == "node_modules");
            let Ok(kind) = entry.file_type() else { continue };
            let path = folder.join(&name);
            if kind.is_dir() && !hidden && !root.join(&path).join("pyvenv.cfg").exists() {
                folders.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "py") {
                found.push(path);
            }
        }
        if found.len() > MOST_FILES {
            return None;
        }
    }
    Some(found)
}

/// For each file, the files that import it. An ambiguous name counts for every file that it can mean.
fn importers(root: &Path, sources: &[PathBuf]) -> HashMap<PathBuf, Vec<PathBuf>> {
    let mut by_name: HashMap<String, Vec<&PathBuf>> = HashMap::new();
    for source in sources {
        for name in names(source) {
            by_name.entry(name).or_default().push(source);
        }
    }
    let mut importers: HashMap<PathBuf, Vec<PathBuf>> = HashMap::new();
    for source in sources {
        let small = root.join(source).metadata().is_ok_and(|found| found.len() <= LARGEST_SOURCE);
        let Some(text) = small.then(|| std::fs::read(root.join(source)).ok()).flatten() else { continue };
        for name in imported(&String::from_utf8_lossy(&text)) {
            for file in by_name.get(&name).into_iter().flatten() {
                importers.entry((*file).clone()).or_default().push(source.clone());
            }
        }
    }
    importers
}

/// The module names of a file: `src/a/b.py` has `b`, `a.b` and `src.a.b`.
fn names(source: &Path) -> Vec<String> {
    let mut parts: Vec<&str> = source.iter().filter_map(|part| part.to_str()).collect();
    let last = parts.pop().and_then(|name| name.strip_suffix(".py")).unwrap_or_default();
    if last != "__init__" {
        parts.push(last);
    }
    (0..parts.len()).map(|from| parts.iter().skip(from).copied().collect::<Vec<_>>().join(".")).collect()
}

/// All names that a file may import, each with all its prefixes. A relative import is reduced to its last
/// part.
fn imported(text: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    let mut add = |name: &str| {
        let parts: Vec<&str> = name.trim_matches('.').split('.').filter(|part| !part.is_empty()).collect();
        for until in 1..=parts.len() {
            found.insert(parts.iter().take(until).copied().collect::<Vec<_>>().join("."));
        }
    };
    let joined = text.replace("\\\n", " ");
    let mut lines = joined.lines();
    while let Some(line) = lines.next() {
        let line = line.trim_start();
        let mut rest = line.split('#').next().unwrap_or_default().to_owned();
        if let Some(names) = rest.strip_prefix("import ") {
            names.split(',').for_each(|name| add(name.split_whitespace().next().unwrap_or_default()));
        } else if rest.starts_with("from ") && rest.contains("import") {
            while rest.contains('(') && !rest.contains(')') {
                let Some(next) = lines.next() else { break };
                rest.push(' ');
                rest.push_str(next.split('#').next().unwrap_or_default());
            }
            let Some((module, names)) = rest.trim_start_matches("from ").split_once("import") else {
                continue;
            };
            let module = module.trim();
            add(module);
            for name in names.trim_matches([' ', '(', ')']).split(',') {
                let name = name.split_whitespace().next().unwrap_or_default();
                let dot = if module.is_empty() || module.ends_with('.') { "" } else { "." };
                add(&format!("{module}{dot}{name}"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{imported, names};
    use std::path::Path;

    #[test]
    fn names_and_imports_meet() {
        assert_eq!(names(Path::new("src/a/b.py")), ["src.a.b", "a.b", "b"]);
        assert_eq!(names(Path::new("a/__init__.py")), ["a"]);
        let text = "import os, a.b as c\nfrom . import d\nfrom .e import (f,\n  g)\nfrom x.y import z  # why\n    import late\n";
        let found = imported(text);
        for name in ["os", "a", "a.b", "d", "e", "e.f", "e.g", "x", "x.y", "x.y.z", "late"] {
            assert!(found.contains(name), "{name} in {found:?}");
        }
    }
}
