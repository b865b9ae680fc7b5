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

/// Below `src` every folder is a module, whatever its name.
fn is_output(folder: &Path) -> bool {
    let names = ["target", "node_modules", "state", "corpus", "artifacts"];
    let inside = folder.strip_prefix(root()).unwrap_or(folder);
    names.iter().any(|name| inside.ends_with(name)) && !inside.iter().any(|part| part == "src")
}

/// Below the root, files of one extension in these folders.
pub(crate) fn sources(folders: &[&str], extension: &str) -> Vec<PathBuf> {
    let below = folders.iter().flat_map(|folder| files_below(&root().join(folder)));
    below.filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
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
    fn modules_are_no_build_output() {
        for (folder, output) in [
            ("target", true),
            ("fuzz/corpus", true),
            ("servers/pytest/state", true),
            ("crates/a/src/state", false),
            ("crates/a/src/b/target", false),
            ("crates/a", false),
        ] {
            assert_eq!(is_output(&root().join(folder)), output, "{folder}");
        }
    }
}
