//! Every reason has its transcript, and every transcript its reason.

use crate::catalogue;
use crate::problem::Problem;
use crate::tree::{files_below, root};

pub(super) fn check() -> Vec<Problem> {
    let registry = match catalogue::registered() {
        Ok(registry) => registry,
        Err(problem) => return vec![problem],
    };
    let folder = root().join("tests/transcripts/render");
    let stored: Vec<String> = files_below(&folder)
        .iter()
        .filter_map(|path| path.strip_prefix(&folder).ok())
        .map(|path| path.with_extension("").to_string_lossy().replace('\\', "/"))
        .collect();
    let known: Vec<&str> = registry.iter().map(|row| row.id).collect();
    let update = "run `UPDATE=1 cargo test -p failwell-render --test transcripts` and read the new file";
    let missing = known.iter().filter(|id| !stored.iter().any(|name| name == *id));
    let orphans = stored.iter().filter(|name| !known.contains(&name.as_str()));
    missing
        .map(|id| Problem::new(format!("{id} has no transcript"), update))
        .chain(orphans.map(|name| {
            let what = format!("tests/transcripts/render/{name} belongs to no reason");
            Problem::new(what, "delete it; reasons are for ever once released, so ask first why one is gone")
        }))
        .collect()
}
