//! The manual of failures is what the catalogue says.

use crate::catalogue;
use crate::problem::Problem;
use crate::tree::{read, shown};

pub(super) fn check() -> Vec<Problem> {
    let (path, registry) = match catalogue::registered() {
        Ok(registry) => (catalogue::path(), registry),
        Err(problem) => return vec![problem],
    };
    match read(&path) {
        Ok(text) if text == catalogue::page(&registry) => Vec::new(),
        _ => {
            let what = format!("{} is not what the catalogue says", shown(&path));
            vec![Problem::new(what, "run `cargo xtask catalogue` and read the difference")]
        }
    }
}
