//! The rules of the tree. Each check is a function from the repository to its problems.

mod advisories;
mod edges;
mod folders;
mod manual;
mod names;
mod paths;
mod records;
mod sources;
mod transcripts;
mod waits;

use crate::problem::Problem;

/// All problems of all checks.
pub(crate) fn check() -> Vec<Problem> {
    let checks: [fn() -> Vec<Problem>; 14] = [
        crate::bounds::check,
        advisories::check,
        edges::check,
        folders::check,
        manual::check,
        transcripts::check,
        sources::long_files,
        sources::forbidden_words,
        sources::missing_invariants,
        records::check,
        sources::machine_paths,
        names::check,
        paths::check,
        waits::check,
    ];
    checks.into_iter().flat_map(|check| check()).collect()
}
