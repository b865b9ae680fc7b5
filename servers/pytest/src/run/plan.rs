//! Converts the arguments of a call to the arguments of pytest.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::arguments::{Discover, Execute};
use crate::project::Project;

/// The arguments of every run: ids are relative to the project, and caches are outside of it.
fn common(project: &Project, folder: &Path) -> Vec<String> {
    let cache = folder.join("cache").join(project.root().strip_prefix("/").unwrap_or(project.root()));
    vec![
        format!("--rootdir={}", project.root().display()),
        "--color=no".to_owned(),
        "-o".to_owned(),
        format!("cache_dir={}", cache.display()),
    ]
}

/// The arguments of pytest for a run. Each value is joined to its option, so that it cannot become an option
/// itself.
pub(crate) fn execute(given: &Execute, selected: &[String], project: &Project, folder: &Path) -> Vec<String> {
    let mut arguments = common(project, folder);
    let mut add = |argument: String| arguments.push(argument);
    match given.verbosity.unwrap_or(0) {
        level @ 1.. => add(format!("-{}", "v".repeat(usize::try_from(level).unwrap_or(1)))),
        level @ ..=-1 => add(format!("-{}", "q".repeat(usize::try_from(-level).unwrap_or(1)))),
        0 => {}
    }
    if given.failfast == Some(true) {
        add("-x".to_owned());
    }
    if let Some(count) = given.maxfail {
        add(format!("--maxfail={count}"));
    }
    if given.show_capture == Some(false) {
        add("--show-capture=no".to_owned());
    }
    if let Some(markers) = &given.markers {
        add(format!("-m{markers}"));
    }
    if let Some(keywords) = &given.keywords {
        add(format!("-k{keywords}"));
    }
    selected.iter().for_each(|id| add(id.clone()));
    arguments
}

/// The arguments of pytest for collection only.
pub(crate) fn discover(given: &Discover, project: &Project, folder: &Path) -> Vec<String> {
    let mut arguments = common(project, folder);
    arguments.extend(["--collect-only".to_owned(), "-q".to_owned()]);
    if let Some(pattern) = &given.pattern {
        arguments.extend(["-o".to_owned(), format!("python_files={pattern}")]);
    }
    arguments.extend(given.path.clone());
    arguments
}

/// The settings of the bootstrap program.
pub(crate) fn settings(project: &Project, folder: &Path) -> Map<String, Value> {
    let environment = json!({
        "COVERAGE_FILE": folder.join("coverage.data"),
        "HYPOTHESIS_STORAGE_DIRECTORY": folder.join("hypothesis"),
    });
    let mut settings = Map::new();
    settings.insert("root".to_owned(), json!(project.root()));
    settings.insert("bytecode".to_owned(), json!(folder.join("bytecode")));
    settings.insert("environment".to_owned(), environment);
    settings
}

/// The equivalent command line for the caller, without the paths of the private caches.
pub(crate) fn command(interpreter: &Path, arguments: &[String]) -> Vec<String> {
    let start = [interpreter.display().to_string(), "-m".to_owned(), "pytest".to_owned()];
    let ours = |pair: &[String]| matches!(pair, [option, value] if option == "-o" && value.starts_with("cache_dir="));
    let hidden = arguments.windows(2).position(ours);
    let shown = arguments
        .iter()
        .enumerate()
        .filter(|(index, _)| hidden.is_none_or(|start| *index != start && *index != start + 1));
    start.into_iter().chain(shown.map(|(_, argument)| argument.clone())).collect()
}

/// Whether a selection covers a test: the test itself, or its file, folder or class.
pub(crate) fn covers(selection: &str, id: &str) -> bool {
    let selection = selection.trim_start_matches("./").trim_end_matches('/');
    let rest = id.strip_prefix(selection);
    rest.is_some_and(|rest| {
        rest.is_empty() || rest.starts_with("::") || rest.starts_with('/') || rest.starts_with('[')
    })
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn selections_cover_what_is_below_them() {
        for (selection, id, expected) in [
            ("tests", "tests/test_a.py::t", true),
            ("tests/", "tests/test_a.py::t", true),
            ("./tests/test_a.py", "tests/test_a.py::t", true),
            ("tests/test_a.py::t", "tests/test_a.py::t[1]", true),
            ("tests/test_a.py::C", "tests/test_a.py::C::t", true),
            ("tests/test_a.py", "tests/test_ab.py::t", false),
            ("test", "tests/test_a.py::t", false),
        ] {
            assert_eq!(covers(selection, id), expected, "{selection} {id}");
        }
    }
}
