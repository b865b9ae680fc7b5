//! Folders show their purpose: only so many source files stand side by side in one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::problem::Problem;
use crate::tree::{files_below, root};

/// Source files in one folder. Sub-folders are not counted, the files beside them are.
const MOST: usize = 16;

/// Where our own code lives.
const CODE: [&str; 7] = ["bench", "crates", "emulators", "fuzz", "servers", "tests", "xtask"];

const EXTENSIONS: [&str; 5] = ["js", "mjs", "py", "rs", "sh"];

const HELP: &str = "group them into sub-folders named for their purpose";

pub(super) fn check() -> Vec<Problem> {
    check_below(&root())
}

/// The folders named `src` and `tests`, and those below them, that hold too many files.
fn check_below(root: &Path) -> Vec<Problem> {
    let mut counts: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for file in CODE.iter().flat_map(|place| files_below(&root.join(place))) {
        let Some(folder) = file.parent().and_then(|folder| folder.strip_prefix(root).ok()) else { continue };
        if is_source(&file) && folder.iter().any(|part| part == "src" || part == "tests") {
            *counts.entry(folder.to_path_buf()).or_default() += 1;
        }
    }
    counts.retain(|_, count| *count > MOST);
    counts.iter().map(|(folder, count)| crowded(folder, *count)).collect()
}

fn is_source(file: &Path) -> bool {
    file.extension().is_some_and(|extension| EXTENSIONS.iter().any(|known| extension == *known))
}

fn crowded(folder: &Path, count: usize) -> Problem {
    let folder = folder.to_string_lossy().replace('\\', "/");
    Problem::new(format!("{folder} has {count} source files side by side, more than {MOST}"), HELP)
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir_all, remove_dir_all, write};

    use super::{MOST, check_below};

    #[test]
    fn a_crowded_folder_is_a_problem() {
        let root = std::env::temp_dir().join(format!("failwell-folders-{}", std::process::id()));
        for (folder, extension, files, problem) in [
            ("crates/a/src/commands", "rs", MOST, None),
            ("crates/b/src/commands", "rs", MOST + 1, Some("crates/b/src/commands has 17")),
            ("servers/c/src", "rs", MOST + 2, Some("servers/c/src has 18")),
            ("tests/d", "py", MOST + 1, Some("tests/d has 17")),
            ("tests/transcripts/e", "txt", MOST + 1, None),
            ("docs/src", "rs", MOST + 1, None),
            ("crates/f/examples", "rs", MOST + 1, None),
        ] {
            create_dir_all(root.join(folder).join("below")).expect("a folder");
            for number in 0..files {
                write(root.join(folder).join(format!("{number}.{extension}")), "").expect("a file");
            }
            write(root.join(folder).join("below").join("more.rs"), "").expect("a file");
            let found = check_below(&root);
            remove_dir_all(&root).expect("removed");
            let found: Vec<&str> = found.iter().map(|problem| problem.what.as_str()).collect();
            assert_eq!(found.len(), usize::from(problem.is_some()), "{folder}: {found:?}");
            assert!(
                problem.is_none_or(|start| found.iter().all(|what| what.starts_with(start))),
                "{found:?}"
            );
        }
    }
}
