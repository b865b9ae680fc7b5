//! Paths without dot segments.

use super::Form;
use super::escape::{self, Part};

/// Whether several slashes count as one, as in a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slashes {
    Preserved,
    Merged,
}

pub(super) fn normalize(path: &str, slashes: Slashes, form: Form) -> Option<String> {
    let path = escape::normalize(path, Part::Path, form)?;
    // A text without slashes, such as that of a URN, has no segments.
    Some(if path.contains('/') { without_dots(&path, slashes) } else { path })
}

fn without_dots(path: &str, slashes: Slashes) -> String {
    let relative = path.strip_prefix('/');
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = relative.unwrap_or(path).split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." => {}
            ".." => drop(kept.pop()),
            "" if slashes == Slashes::Merged && !is_last => {}
            _ => {
                kept.push(segment);
                continue;
            }
        }
        if is_last {
            kept.push("");
        }
    }
    let lead = if relative.is_some() { "/" } else { "" };
    format!("{lead}{}", kept.join("/"))
}
