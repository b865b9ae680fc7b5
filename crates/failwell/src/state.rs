//! The default state folder.

use std::path::PathBuf;

/// `FAILWELL_STATE`, otherwise the XDG state folder.
pub(crate) fn folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("FAILWELL_STATE")
        .or_else(|| set("XDG_STATE_HOME").map(|folder| folder.join("failwell")))
        .or_else(|| set("HOME").map(|home| home.join(".local/state/failwell")))
        .or_else(|| set("LOCALAPPDATA").map(|folder| folder.join("failwell")))
}
