//! Decision records are found from their index.

use crate::problem::Problem;
use crate::tree::{read, root, sources};

pub(super) fn check() -> Vec<Problem> {
    let index = match read(&root().join("docs/adr/README.md")) {
        Ok(index) => index,
        Err(problem) => return vec![problem],
    };
    sources(&["docs/adr"], "md")
        .iter()
        .filter_map(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()))
        .filter(|name| name != "README.md" && !index.contains(&format!("({name})")))
        .map(|name| Problem::new(format!("docs/adr/{name} is not linked"), "link it from docs/adr/README.md"))
        .collect()
}
