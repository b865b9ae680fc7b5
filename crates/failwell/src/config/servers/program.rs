//! Whether the program of a command can be started, as far as the file system tells.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use failwell_fault::Secret;
use failwell_gateway::Endpoint;
use failwell_plugins::ChildSettings;

/// Where the system looks without a `PATH`.
const USUAL_PATH: &str = "/bin:/usr/bin";

/// Why the program of a guard cannot be started; `None` if it can.
pub(crate) fn problem(settings: &ChildSettings) -> Option<&'static str> {
    let path = search_path(&settings.environment, &settings.inherited);
    problem_in(&settings.program, &settings.folder, &path)
}

/// Why the program of an upstream cannot be started; `None` if it can, or if there is none to start.
pub(crate) fn endpoint_problem(endpoint: &Endpoint) -> Option<&'static str> {
    let Endpoint::Child { program, folder, environment, inherited, .. } = endpoint else { return None };
    problem_in(program, folder, &search_path(environment, inherited))
}

/// The `PATH` that the program gets.
fn search_path(environment: &[(String, Secret<String>)], inherited: &[String]) -> OsString {
    let own =
        environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.expose().clone().into());
    let outer = || inherited.iter().any(|name| name == "PATH").then(|| std::env::var_os("PATH")).flatten();
    own.or_else(outer).unwrap_or_else(|| USUAL_PATH.into())
}

fn problem_in(program: &Path, folder: &Path, path: &OsStr) -> Option<&'static str> {
    let candidates: Vec<PathBuf> = match program.components().count() {
        1 if !program.is_absolute() && !starts_here(program) => {
            std::env::split_paths(path).map(|part| folder.join(part).join(program)).collect()
        }
        _ => vec![folder.join(program)],
    };
    let found = || candidates.iter().filter_map(|file| file.metadata().ok());
    let is_program = |meta: &std::fs::Metadata| meta.is_file() && meta.permissions().mode() & 0o111 != 0;
    match (found().any(|meta| is_program(&meta)), found().next()) {
        (true, _) => None,
        (false, None) => Some("it does not exist"),
        (false, Some(meta)) if meta.is_dir() => Some("it is a folder"),
        (false, Some(_)) => Some("it may not be executed"),
    }
}

/// Whether a path such as `./guard`, of which `components` drops the dot, names a file instead of a command.
fn starts_here(program: &Path) -> bool {
    program.as_os_str().as_encoded_bytes().contains(&b'/')
}

#[cfg(test)]
mod tests {
    use super::problem_in;
    use std::ffi::OsStr;
    use std::path::Path;

    #[test]
    fn programs_are_looked_for_where_the_system_looks() {
        let path = OsStr::new("/nowhere:/bin:/usr/bin");
        for (program, folder, expected) in [
            ("sh", "/", None),
            ("/bin/sh", "/", None),
            ("bin/sh", "/", None),
            ("./sh", "/bin", None),
            ("./sh", "/", Some("it does not exist")),
            ("no-such-program-here", "/", Some("it does not exist")),
            ("/etc/passwd", "/", Some("it may not be executed")),
            ("/etc", "/", Some("it is a folder")),
        ] {
            assert_eq!(problem_in(Path::new(program), Path::new(folder), path), expected, "{program}");
        }
    }
}
