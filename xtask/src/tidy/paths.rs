//! The three paths through the code in ARCHITECTURE.md: their files exist, each stands once, and there are not too many.

use std::collections::BTreeSet;
use std::path::Path;

use crate::problem::Problem;
use crate::tree::{read, root};

/// The first words of each path, and the most files it may have.
const PATHS: [(&str, usize); 3] = [
    ("**A `tools/call` over HTTP to a stdio upstream**", 40),
    ("**A failing pytest run**", 25),
    ("**A REST call that fails in routing**", 30),
];

const HELP: &str = "correct the list under \"Three paths through the code\", or shorten the path";

pub(super) fn check() -> Vec<Problem> {
    match read(&root().join("ARCHITECTURE.md")) {
        Ok(text) => check_text(&text, &root()),
        Err(problem) => vec![problem],
    }
}

fn check_text(text: &str, root: &Path) -> Vec<Problem> {
    let problem = |what: String| Problem::new(format!("ARCHITECTURE.md: {what}"), HELP);
    let mut problems = Vec::new();
    for (heading, most) in PATHS {
        let Some(section) = text.split_once(heading).map(|(_, section)| section) else {
            problems.push(problem(format!("no path begins with {heading}")));
            continue;
        };
        let mut seen = BTreeSet::new();
        for file in files(section) {
            if !["crates", "servers"].iter().any(|folder| root.join(folder).join(&file).is_file()) {
                problems.push(problem(format!("{file} does not exist")));
            }
            if !seen.insert(file.clone()) {
                problems.push(problem(format!("{file} stands twice in {heading}")));
            }
        }
        let (stated, counted) = (stated(section), seen.len());
        if stated != Some(counted) || counted > most {
            problems.push(problem(format!("{heading} has {counted} files, and at most {most} are allowed")));
        }
    }
    problems
}

/// The number in `(39 files):`.
fn stated(section: &str) -> Option<usize> {
    section.split_once(" files):")?.0.rsplit('(').next()?.parse().ok()
}

/// The files in the rows of the first table: `crate/src/file.rs`.
fn files(section: &str) -> Vec<String> {
    let rows =
        section.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    rows.skip(2)
        .filter_map(|row| row.trim_matches('|').split_once('|'))
        .flat_map(|(name, files)| {
            let names = files.split('`').skip(1).step_by(2);
            names.map(move |file| format!("{}/src/{file}.rs", name.trim()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{PATHS, check_text};
    use crate::tree::root;

    /// A document with one row under each heading.
    fn document(row: &str, stated: usize) -> String {
        let path = |(heading, _): &(&str, usize)| {
            format!("{heading}, somewhere ({stated} files):\n\n| crate | files |\n|---|---|\n{row}\n\n")
        };
        PATHS.iter().map(path).collect()
    }

    #[test]
    fn a_wrong_list_is_a_problem() {
        for (row, stated, problems) in [
            ("| rpc | `scan`, `message` |", 2, 0),
            ("| rpc | `scan`, `message` |", 3, 3),
            ("| rpc | `scan`, `scan` |", 1, 3),
            ("| rpc | `no_such_file` |", 1, 3),
            ("| pytest | `server` |", 1, 0),
        ] {
            let found = check_text(&document(row, stated), &root());
            assert_eq!(found.len(), problems, "{row} {found:?}");
        }
        assert_eq!(check_text("", &root()).len(), 3);
    }

    #[test]
    fn a_path_that_is_too_long_is_a_problem() {
        let scan = "array canonical change fields json object skip";
        let files: Vec<String> = scan.split(' ').map(|name| format!("`raw/{name}`")).collect();
        let short = format!("| rpc | {} |", files.join(", "));
        assert!(check_text(&document(&short, 7), &root()).is_empty());
        let limit =
            |text: &str| check_text(text, &root()).iter().any(|found| found.what.contains("at most 25"));
        let many: Vec<String> = (0..26).map(|number| format!("`file_{number}`")).collect();
        assert!(limit(&document(&format!("| rpc | {} |", many.join(", ")), 26)));
    }
}
