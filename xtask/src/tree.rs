//! The repository as files.

use std::path::{Path, PathBuf};

use crate::problem::Problem;

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// A path as it is written in messages: from the root, with slashes.
pub(crate) fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

/// Every file below a folder, in order; nothing when the folder is not there. Build output is not ours to check.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !hidden && !is_output(&path) => folders.push(path),
                Ok(kind) if kind.is_file() && !hidden => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// A source folder may be called `state` or `target`, so the place counts too.
fn is_output(folder: &Path) -> bool {
    let parent = folder.parent().unwrap_or(folder);
    match folder.file_name().and_then(|name| name.to_str()) {
        Some("node_modules") => true,
        Some("target") => parent.join("Cargo.toml").is_file(),
        Some("state") => parent == root(),
        Some("corpus" | "artifacts") => parent == root().join("fuzz"),
        _ => false,
    }
}

/// Below the root, files of one extension in these folders.
pub(crate) fn sources(folders: &[&str], extension: &str) -> Vec<PathBuf> {
    let below = folders.iter().flat_map(|folder| files_below(&root().join(folder)));
    below.filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
}

/// Every file below a folder that is text, with its text.
pub(crate) fn texts_below(folder: &Path) -> Vec<(PathBuf, String)> {
    let files = files_below(folder).into_iter();
    files.filter_map(|path| std::fs::read_to_string(&path).ok().map(|text| (path, text))).collect()
}

/// Whether a file is a Python script, by its extension or its first line.
pub(crate) fn is_python(path: &Path, text: &str) -> bool {
    match path.extension() {
        Some(extension) => extension == "py",
        None => text.lines().next().is_some_and(|line| line.starts_with("#!") && line.contains("python")),
    }
}

/// The text of a file.
pub(crate) fn read(path: &Path) -> Result<String, Problem> {
    std::fs::read_to_string(path)
        .map_err(|error| Problem::new(format!("{} cannot be read: {error}", shown(path)), "restore the file"))
}

#[cfg(test)]
mod tests {
    use super::{is_output, root};

    #[test]
    fn output_is_told_from_sources_of_the_same_name() {
        for (folder, expected) in [
            ("bench/target", true),
            ("crates/failwell/src/config/upstream/target", false),
            ("state", true),
            ("emulators/rtm/src/state", false),
            ("fuzz/corpus", true),
            ("crates/policy/tests/corpus", false),
        ] {
            assert_eq!(is_output(&root().join(folder)), expected, "{folder}");
        }
    }
}
