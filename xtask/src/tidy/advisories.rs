//! The packages of `Cargo.lock` against the checked-in list of advisories.

use semver::{Version, VersionReq};

use crate::problem::Problem;
use crate::tree;

const LIST: &str = "tools/advisories.txt";

/// One line of the list.
struct Advisory<'a> {
    package: &'a str,
    id: &'a str,
    /// The ranges that are fixed or not affected.
    fixed: Vec<VersionReq>,
}

pub(super) fn check() -> Vec<Problem> {
    let read = |name: &str| tree::read(&tree::root().join(name));
    match (read(LIST), read("Cargo.lock")) {
        (Ok(list), Ok(lock)) => compare(&list, &lock),
        (list, lock) => [list, lock].into_iter().filter_map(Result::err).collect(),
    }
}

fn compare(list: &str, lock: &str) -> Vec<Problem> {
    let packages = packages(lock);
    let mut problems = Vec::new();
    for line in list.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let Some(advisory) = Advisory::read(line) else {
            problems.push(Problem::new(
                format!("{LIST} has a line that cannot be read: {line}"),
                "write it as `package | advisory | fixed ranges`",
            ));
            continue;
        };
        for (_, version) in packages.iter().filter(|(name, _)| *name == advisory.package) {
            if !advisory.fixed.iter().any(|range| range.matches(version)) {
                problems.push(Problem::new(
                    format!("{} {version} is affected by {}", advisory.package, advisory.id),
                    "update it with `cargo update`",
                ));
            }
        }
    }
    problems
}

impl<'a> Advisory<'a> {
    fn read(line: &'a str) -> Option<Advisory<'a>> {
        let mut parts = line.split('|').map(str::trim);
        let (package, id, fixed) = (parts.next()?, parts.next()?, parts.next()?);
        let fixed: Option<Vec<VersionReq>> =
            fixed.split(" or ").map(|range| VersionReq::parse(range.trim()).ok()).collect();
        Some(Advisory { package, id, fixed: fixed.filter(|fixed| !fixed.is_empty())? })
    }
}

/// Names and versions.
fn packages(lock: &str) -> Vec<(&str, Version)> {
    let mut found = Vec::new();
    let mut name = "";
    for line in lock.lines() {
        if let Some(named) = value(line, "name = \"") {
            name = named;
        } else if let Some(version) = value(line, "version = \"") {
            found.extend(Version::parse(version).ok().map(|version| (name, version)));
        }
    }
    found
}

fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.strip_prefix(key)?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn an_affected_version_and_an_unreadable_line_are_reported() {
        let list = "# a comment\na | RUSTSEC-1 | >= 1.2.0 or >= 0.9.3, < 1.0.0\nb | RUSTSEC-2 | nonsense\n";
        for (version, problems) in [("1.2.0", 1), ("1.1.9", 2), ("0.9.4+meta", 1), ("0.9.2", 2)] {
            let lock =
                format!("[[package]]\nname = \"a\"\nversion = \"{version}\"\n\n[[package]]\nname = \"c\"\n");
            assert_eq!(compare(list, &lock).len(), problems, "{version}");
        }
    }
}
