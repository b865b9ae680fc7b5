//! The default state folder.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// `FAILWELL_STATE`, otherwise the folder that systemd made for the service, otherwise the XDG state folder.
pub(crate) fn folder() -> Option<PathBuf> {
    folder_from(|name| std::env::var_os(name))
}

fn folder_from(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("FAILWELL_STATE")
        .or_else(|| set("STATE_DIRECTORY").and_then(|folders| first(&folders)))
        .or_else(|| set("XDG_STATE_HOME").map(|folder| folder.join("failwell")))
        .or_else(|| set("HOME").map(|home| home.join(".local/state/failwell")))
        .or_else(|| set("LOCALAPPDATA").map(|folder| folder.join("failwell")))
}

/// `StateDirectory=` of a unit may name several folders. systemd puts colons between them.
fn first(folders: &Path) -> Option<PathBuf> {
    match folders.to_str() {
        Some(folders) => folders.split(':').find(|folder| !folder.is_empty()).map(PathBuf::from),
        None => Some(folders.to_path_buf()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::folder_from;

    #[test]
    fn the_first_variable_that_is_set_names_the_folder() {
        let home = ("HOME", "/home/ann");
        for (variables, folder) in [
            (vec![], None),
            (vec![home], Some("/home/ann/.local/state/failwell")),
            (vec![home, ("XDG_STATE_HOME", "/states")], Some("/states/failwell")),
            (vec![home, ("STATE_DIRECTORY", "/var/lib/failwell")], Some("/var/lib/failwell")),
            (vec![("STATE_DIRECTORY", "/var/lib/one:/var/lib/two")], Some("/var/lib/one")),
            (vec![home, ("STATE_DIRECTORY", "")], Some("/home/ann/.local/state/failwell")),
            (vec![home, ("STATE_DIRECTORY", ":")], Some("/home/ann/.local/state/failwell")),
            (vec![("STATE_DIRECTORY", "/var/lib/failwell"), ("FAILWELL_STATE", "/own")], Some("/own")),
        ] {
            let found = folder_from(|name| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
            });
            assert_eq!(found, folder.map(PathBuf::from), "{variables:?}");
        }
    }
}
