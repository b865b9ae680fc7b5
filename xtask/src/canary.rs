//! The canary: tests plant one secret in everything that comes in, and keep everything that comes out. Nothing that came
//! out may hold it, however it is written.

mod variants;

use std::path::{Path, PathBuf};

use crate::problem::Problem;

/// The mark in every planted secret. Tests use the same constant name.
const MARKER: &str = "x7Rk2mPq9WvL4tZs8NcY";

/// The kinds of files that tests write. The check fails if one is missing or empty.
const SORTS: [&str; 6] = ["stderr", "stdout", "metrics", "journal", "ledger.sqlite", "ledger.jsonl"];

const HELP: &str = "find the test that wrote it by the name of its folder, and who wrote the secret down";

/// Every file of the folder that holds the secret; and what is missing for the check to mean something.
pub(crate) fn check(folder: &Path) -> Vec<Problem> {
    let files = files_below(folder);
    let mut problems = Vec::new();
    for sort in SORTS {
        let is_there = |file: &&PathBuf| {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            name.ends_with(sort) && std::fs::metadata(file).is_ok_and(|file| file.len() > 0)
        };
        if !files.iter().any(|file| is_there(&file)) {
            let what = format!("no test has kept a {sort} in {}", folder.display());
            problems
                .push(Problem::new(what, "run all tests with FAILWELL_CANARY set to a folder that is there"));
        }
    }
    let variants = variants::of(MARKER);
    for file in files {
        match std::fs::read(&file) {
            Ok(bytes) => {
                let found = variants.iter().filter(|variant| holds(&bytes, &variant.bytes));
                let names: Vec<&str> = found.map(|variant| variant.name).collect();
                if !names.is_empty() {
                    let what = format!("{} holds a planted secret: {}", file.display(), names.join(", "));
                    problems.push(Problem::new(what, HELP));
                }
            }
            Err(error) => {
                let what = format!("{} cannot be read: {error}", file.display());
                problems.push(Problem::new(what, "what cannot be read is not known to be clean"));
            }
        }
    }
    problems
}

fn holds(bytes: &[u8], wanted: &[u8]) -> bool {
    let first = wanted.first().copied().unwrap_or_default();
    let starts = bytes.iter().enumerate().filter(|(_, byte)| **byte == first);
    starts.into_iter().any(|(at, _)| bytes.get(at..at + wanted.len()) == Some(wanted))
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::{MARKER, SORTS, check, variants};
    use std::path::PathBuf;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let folder = std::env::temp_dir().join(format!("failwell-canary-{}-{name}", std::process::id()));
            std::fs::create_dir_all(folder.join("one")).expect("a folder");
            for sort in SORTS {
                std::fs::write(folder.join("one").join(sort), "nothing of interest").expect("written");
            }
            Folder(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_folder_without_outputs_is_no_proof() {
        let folder = Folder::new("clean");
        assert_eq!(check(&folder.0), []);
        std::fs::write(folder.0.join("one/journal"), "").expect("written");
        assert_eq!(check(&folder.0).len(), 1, "an empty file is none");
        std::fs::remove_file(folder.0.join("one/metrics")).expect("removed");
        assert_eq!(check(&folder.0).len(), 2);
        assert_eq!(check(&folder.0.join("nowhere")).len(), SORTS.len());
    }

    #[test]
    fn the_secret_is_found_in_every_spelling_and_between_any_bytes() {
        for variant in variants::of(MARKER) {
            for file in ["stderr", "deeper.bin", "ledger.sqlite"] {
                let folder = Folder::new("dirty");
                let bytes = [&[0, 255, b'x', 0x7f][..], &variant.bytes, &[0, 1]].concat();
                std::fs::write(folder.0.join("one").join(file), bytes).expect("written");
                let problems = check(&folder.0);
                assert!(problems.len() == 1 && problems[0].what.contains(variant.name), "{problems:?}");
            }
        }
    }
}
